import type { CsvColumns, CsvRow } from '../../platform/readCsv.ts';
import type { Society } from '../../society/society.ts';
import { faultOf, pastFault } from './importInvitations.ts';

/** The columns of an invitation file, except the code. */
export const mintColumns = [
  'contactId',
  'firstName',
  'lastName',
  'email',
  'school',
  'programme',
  'expiresAt',
  'nominatedBy',
] as const;
type Column = (typeof mintColumns)[number];
export type InvitationToMint = Partial<Record<Column, string>>;
export const contactFile = {
  needed: ['contactId'],
  optional: mintColumns.slice(1),
} as const satisfies CsvColumns<Column>;

/**
 * Yields the contacts in the rows of a CSV file, for whom codes are to be made. If a row has no value in a column, the value
 * comes from `all`. A row is refused if an import would refuse it, or if its code would have expired already.
 */
export async function* contactsToMint(
  rows: AsyncIterable<CsvRow<Column>>,
  { all, society, now }: { all: InvitationToMint; society: Society; now: Date },
  refuse: (line: number, text: string, raw: string | null) => void,
): AsyncGenerator<InvitationToMint> {
  for await (const { line, text, values, fault: unread } of rows) {
    if (unread !== null) {
      refuse(line, unread, text);
      continue;
    }
    const given: InvitationToMint = Object.fromEntries(
      mintColumns.flatMap((column) => (values[column] ? [[column, values[column]]] : [])),
    );
    const fault =
      faultOf({ ...given, contactId: given.contactId ?? '' }, society.programmes) ??
      (given.expiresAt === undefined ? null : pastFault(given.expiresAt, society, now));
    if (fault) refuse(line, fault, text);
    else yield { ...all, ...given };
  }
}
