import { type Kysely, sql } from 'kysely';
import { PROOF_DUE_DAYS } from '#core/specified.ts';
import type { RejectionReason } from '#documents/document.ts';
import { tellHubspot } from '../contacts/tellHubspot.ts';
import type { Deps } from '../deps.ts';
import { dueLetters } from '../letters/dueLetters.ts';
import type { Tables } from '../platform/database/types.ts';
import { joinHolds } from '../session/members.ts';
import { fullName } from '../session/person.ts';
import { proofJoin } from './proofJoin.ts';

type Verdict = { review: 'accepted' } | { review: 'rejected'; reason: RejectionReason };

/**
 * Records the decision of staff on all pending transcripts of a join; for an upgrade by link, on those of its base's join. A
 * rejection also replaces an earlier acceptance. Final rejections are made by {@link rejectFinally}. Returns how many transcripts
 * are changed. With `isTrial`, changes nothing.
 */
export async function reviewTranscripts(
  deps: Deps,
  uuid: string,
  verdict: Verdict,
  { isTrial = false } = {},
): Promise<number> {
  const join = await proofJoin(deps.database, uuid);
  return deps.database.transaction().execute(async (trx) => {
    // Locks the join before its documents. A refund locks in the same order, so deadlocks cannot occur.
    await trx.selectFrom('join_session').select('uuid').where('uuid', '=', join).forUpdate().execute();
    return recordReview(trx, deps, { named: uuid, join }, verdict, { isTrial });
  });
}

/**
 * Records a decision on the transcripts of a locked join, makes its letter due, and makes the join due for HubSpot. Returns how
 * many transcripts are changed. `named` is the join that staff named, `join` the one that owes the proof. They differ for an
 * upgrade by link, where servers of the previous version stored transcripts with `named`. The decision therefore applies to the
 * transcripts of both.
 */
export async function recordReview(
  trx: Kysely<Tables>,
  deps: Deps,
  { named, join }: { named: string; join: string },
  verdict: Verdict,
  { isFinal = false, isTrial = false } = {},
): Promise<number> {
  const reason = verdict.review === 'rejected' ? verdict.reason : null;
  const undecided = await trx
    .selectFrom('document')
    .select('id')
    .where('session_uuid', 'in', [named, join])
    .where('is_final', '=', false)
    .where((by) =>
      verdict.review === 'accepted'
        ? by('review', '=', 'open')
        : isFinal
          ? by.lit(true)
          : by('review', '<>', 'rejected'),
    )
    .forUpdate()
    .execute();
  if (isTrial || undecided.length === 0) return undecided.length;
  const reviewed = await trx
    .updateTable('document')
    .set({ session_uuid: join, review: verdict.review, reason, is_final: isFinal, reviewed_at: deps.now() })
    .where(
      'id',
      'in',
      undecided.map(({ id }) => id),
    )
    .returning('id')
    .execute();
  await tellHubspot(trx, join);
  const [first] = reviewed.map(({ id }) => id).sort();
  await dueLetters(trx, deps, [
    verdict.review === 'accepted'
      ? { kind: 'proof-accepted', sessionUuid: join, occasion: first! }
      : {
          kind: 'proof-rejected',
          sessionUuid: join,
          occasion: `${first}${isFinal ? ' final' : ''}`,
          data: { reason, isFinal },
        },
  ]);
  return reviewed.length;
}

/**
 * The applicant's data, for staff to compare with the transcript: from the join, otherwise from the contact. A field that neither
 * has is null.
 */
export interface Applicant {
  name: string | null;
  email: string | null;
  school: string | null;
  graduationYear: string | null;
  gpa: string | null;
}

/** SQL: the columns of an {@link Applicant}, for a query on `session` with {@link ofSession}. */
const applicant = sql`
  ${fullName} as name,
  coalesce(person ->> 'personalEmail', contact.email) as email, nullif(person ->> 'highSchoolName', '') as school,
  nullif(person ->> 'highSchoolGraduationYear', '') as "graduationYear", nullif(person ->> 'highSchoolGpa', '') as gpa`;
const ofSession = sql`
  left join contact on contact.id = session.contact_id,
  lateral (select coalesce(session.details, contact.profile) as person) as told`;

export interface Waiting extends Applicant {
  uuid: string;
  since: Date;
  count: number;
}

/** Returns the joins with pending transcripts. The one that has waited longest comes first. */
export async function waitingTranscripts({ database }: Pick<Deps, 'database'>): Promise<Waiting[]> {
  const { rows } = await sql<Waiting>`
    select uuid, since, count, ${applicant}
    from (
      select session_uuid, min(created_at) as since, count(*)::int as count from document
      where kind = 'transcript' and review = 'open' group by session_uuid
    ) as waiting join join_session session on uuid = session_uuid ${ofSession}
    order by since`.execute(database);
  return rows;
}

/** Returns the applicant of a join; null if there is no such join. */
export async function applicantOf(
  { database }: Pick<Deps, 'database'>,
  uuid: string,
): Promise<Applicant | null> {
  const { rows } = await sql<Applicant>`
    select ${applicant} from join_session session ${ofSession} where uuid = ${uuid}`.execute(database);
  return rows[0] ?? null;
}

export interface DueProof extends Applicant {
  uuid: string;
  paidAt: Date;
}

/** Returns the joins whose proof is overdue: a transcript is required, and there is none or all were rejected. */
export async function dueProofs({ database, society, now }: Deps): Promise<DueProof[]> {
  const required = Object.entries(society.programmes)
    .filter(([, programme]) => programme.transcriptRequired)
    .map(([name]) => name);
  const { rows } = await sql<DueProof>`
    select uuid, paid_at as "paidAt", ${applicant} from join_session session ${ofSession}
    where state = 'paid' and session.erased_at is null and paid_at < ${now()}::timestamptz - make_interval(days => ${PROOF_DUE_DAYS})
      and (origin = 'self_nomination' or programme = any(${required}))
      and ${joinHolds('session.uuid', 'membership')}
      and not exists (select from document where session_uuid = uuid and review <> 'rejected')
    order by paid_at`.execute(database);
  return rows;
}
