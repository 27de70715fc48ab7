import type { Paper } from '#core/paper.ts';
import { endNotices } from '../letters/tellStaff.ts';
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
 * Makes the certificate of a join, with another spelling of the name (null: the member's) and on another paper (null: the member's)
 * if staff say so. Throws a {@link Refusal} as the member's page does.
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
