import type { Paper } from '#core/paper.ts';
import { endNotices } from '../letters/notifyStaff.ts';
import type { Deps } from './deps.ts';
import { certificateOf, hasProgramme, readMember, unprintable } from './member.ts';

export type ForStaff =
  | { is: 'made'; bytes: Uint8Array; name: string; number: string }
  /** There is no such join, or it was erased. */
  | { is: 'absent' }
  /** The society's file lacks the programme of the membership. */
  | { is: 'without programme'; programme: string }
  | { is: 'unprintable'; letters: string[] };

/**
 * Makes the certificate of a join. Staff may give another spelling of the name and another paper size; null stands for the
 * member's. Throws a {@link Refusal} like the member's page.
 */
export async function certificateForStaff(
  deps: Deps,
  uuid: string,
  given: { name: string | null; paper: Paper | null },
): Promise<ForStaff> {
  const session = await deps.database
    .selectFrom('join_session')
    .select('erased_at')
    .where('uuid', '=', uuid)
    .executeTakeFirst();
  if (!session || session.erased_at !== null) return { is: 'absent' };
  // Reads the member with the rights of a proven joiner. The rate limits are off, because staff's requests must not be counted.
  const uncounted = { ...deps, config: { ...deps.config, limits: null } };
  const member = await readMember(uncounted, uuid, { holding: { began: false, proven: true, paid: false } });
  if (!hasProgramme(deps, member.programme)) return { is: 'without programme', programme: member.programme };
  const name = given.name ?? member.name;
  const letters = await unprintable(deps, name);
  if (letters.length > 0) return { is: 'unprintable', letters };
  const bytes = await deps.printer.print({
    kind: 'certificate',
    certificate: { ...certificateOf(deps, member), name },
    paper: given.paper ?? member.paper,
  });
  if (given.name !== null) await endNotices(deps.database, ['certificate_name'], { subjects: [uuid] });
  return { is: 'made', bytes, name, number: member.number };
}

/** Returns why no certificate was made, in a sentence for staff. `how` explains how to enter another spelling of the name. */
export function whyNoCertificate(
  why: Exclude<ForStaff, { is: 'made' }>,
  { join, societyFile, how }: { join: string; societyFile: string; how: string },
): string {
  switch (why.is) {
    case 'absent':
      return `There is no ${join}, or it was erased.`;
    case 'without programme':
      return `${societyFile} has no programme ${why.programme}, which this membership is of. Put it back, with \`retired: true\` if nobody is to join it any more.`;
    case 'unprintable':
      return `The typeface has no ${why.letters.join(' ')}: give the name in Latin, Greek or Cyrillic letters${how}.`;
  }
}
