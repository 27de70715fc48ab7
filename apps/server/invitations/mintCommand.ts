import { plain } from '#core/cleanText.ts';
import { type Command, misused, printCsvLine, readArgs } from '../platform/command.ts';
import { type CsvColumns, type CsvRow, NotCsv, readCsv } from '../platform/readCsv.ts';
import type { Society } from '../society/society.ts';
import { expiryFault, faultOf, pastFault, programmeFault } from './importInvitations.ts';
import { mintCodes } from './mintInvitations.ts';

const columns = ['contactId', 'firstName', 'lastName', 'email', 'school', 'programme', 'expiresAt'] as const;
type Column = (typeof columns)[number];
type Invitation = Partial<Record<Column, string>>;
const inFile = { needed: ['contactId'], optional: columns.slice(1) } as const satisfies CsvColumns<Column>;

const options = {
  count: { type: 'string' },
  school: { type: 'string' },
  programme: { type: 'string' },
  expires: { type: 'string' },
} as const;

export const mintCommand: Command = {
  options,
  usage: 'invitations mint FILE.csv|--count N [--school NAME] [--programme ID] [--expires DATE]',
  summary:
    'Make codes that cannot be guessed, as a file for `invitations import`: for the contacts of a file (contactId), a school, or to be filled in.',
  async run(args, { database, deps }) {
    const read = readArgs(args, options);
    if (!read || read.positionals.length > 1) return misused(mintCommand);
    const [file] = read.positionals;
    const { count = read.values.school ? '1' : undefined, school, programme, expires } = read.values;
    if ((file === undefined) === (count === undefined)) return misused(mintCommand);
    if (file !== undefined && school !== undefined) return misused(mintCommand);
    if (count !== undefined && !/^[1-9]\d{0,6}$/.test(count)) return misused(mintCommand);
    const { programmes } = deps.society;
    const closed = programme === undefined ? null : programmeFault(programme, programmes);
    if (closed) {
      console.error(plain(closed));
      return 2;
    }
    const now = deps.now();
    const fault =
      expires === undefined ? null : (expiryFault(expires) ?? pastFault(expires, deps.society, now));
    if (fault) {
      console.error(plain(fault));
      return 2;
    }
    const all: Invitation = {
      ...(school === undefined ? {} : { school }),
      ...(programme === undefined ? {} : { programme }),
      ...(expires === undefined ? {} : { expiresAt: expires }),
    };
    const refusals: string[] = [];
    const refuse = (line: number, text: string) => refusals.push(`line ${line}: ${plain(text)}`);
    try {
      const wanted =
        file === undefined
          ? Array.from({ length: Number(count) }, () => all)
          : contactsOf((await readCsv(file, inFile)).rows, { all, society: deps.society, now }, refuse);
      printCsvLine(['code', ...columns]);
      for await (const { code, invitation } of mintCodes(database, wanted))
        printCsvLine([code, ...columns.map((column) => invitation[column] ?? '')]);
    } catch (error) {
      if (!(error instanceof NotCsv)) throw error;
      console.error(plain(error.message));
      return 1;
    }
    for (const refusal of refusals) console.error(refusal);
    return refusals.length > 0 ? 1 : 0;
  },
};

/**
 * Reads contacts from the rows of a CSV file. The file has the columns of an invitation file, except the code. If a row has no
 * value in a column, the value comes from `all`. A row is refused if an import would refuse it, or if its code would have expired
 * already.
 */
async function* contactsOf(
  rows: AsyncIterable<CsvRow<Column>>,
  { all, society, now }: { all: Invitation; society: Society; now: Date },
  refuse: (line: number, text: string) => void,
): AsyncGenerator<Invitation> {
  for await (const { line, values, fault: unread } of rows) {
    if (unread !== null) {
      refuse(line, unread);
      continue;
    }
    const given: Invitation = Object.fromEntries(
      columns.flatMap((column) => (values[column] ? [[column, values[column]]] : [])),
    );
    const fault =
      faultOf({ ...given, contactId: given.contactId ?? '' }, society.programmes) ??
      (given.expiresAt === undefined ? null : pastFault(given.expiresAt, society, now));
    if (fault) refuse(line, fault);
    else yield { ...all, ...given };
  }
}
