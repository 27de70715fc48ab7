import { notifyStaff } from '../letters/notifyStaff.ts';
import type { Deps } from './deps.ts';
import { hasProgramme, unprintable } from './member.ts';

const MOST_NAMED = 10;

/** Returns a sentence that tells the member why no paper can be made; null if papers can be made. */
export async function paperProblem(
  deps: Deps,
  member: { uuid: string; name: string; programme: string },
): Promise<string | null> {
  return programmeProblem(deps, member) ?? (await nameProblem(deps, member));
}

/**
 * Returns a sentence for the member if the society's file no longer has their programme, otherwise null. Staff need no notice,
 * because the doctor reports missing programmes.
 */
export function programmeProblem(
  deps: Pick<Deps, 'society'>,
  { programme }: { programme: string },
): string | null {
  return hasProgramme(deps, programme)
    ? null
    : `We cannot print your certificate and press release right now. Please write to ${deps.society.society.supportEmail}.`;
}

/**
 * Returns a sentence for the member if the typeface lacks letters of the member's name, otherwise null. A certificate with boxes
 * in place of letters would be useless. Staff get a notice, once for each join.
 */
async function nameProblem(
  deps: Deps,
  { uuid, name }: { uuid: string; name: string },
): Promise<string | null> {
  const letters = await missingLetters(deps, name);
  if (letters === null) return null;
  const notice = { kind: 'certificate_name', subject: uuid, params: { letters } } as const;
  await notifyStaff(deps.database, { ...notice, remedy: { do: 'print certificate', uuid } }, { once: true });
  return `${cannotPrint(letters)} We have been notified and will write to you; or tell ${deps.society.society.supportEmail} how your name should be printed.`;
}

/** Returns a sentence to be shown before payment to a joiner whose name cannot be printed on a certificate; null if it can. */
export async function nameProblemAhead(deps: Deps, name: string): Promise<string | null> {
  const letters = await missingLetters(deps, name).catch((error: unknown) => {
    // Nobody must be kept from paying because papers cannot be made just now.
    deps.log.warn({ err: error }, 'could not look whether a name can be printed');
    return null;
  });
  return (
    letters &&
    `${cannotPrint(letters)} You can still pay. Tell us at ${deps.society.society.supportEmail} how your name should be printed.`
  );
}

async function missingLetters(deps: Deps, name: string): Promise<string | null> {
  const missing = await unprintable(deps, name);
  if (missing.length === 0) return null;
  return `${missing.slice(0, MOST_NAMED).join(' ')}${missing.length > MOST_NAMED ? ' …' : ''}`;
}

function cannotPrint(letters: string): string {
  return `Our certificates are printed in Latin, Greek and Cyrillic letters, and your name has others (${letters}).`;
}
