import { isDeepStrictEqual } from 'node:util';
import { type Kysely, type RawBuilder, type Selectable, sql } from 'kysely';
import { PROOF_DUE_DAYS } from '#core/specified.ts';
import type { RejectionReason } from '#documents/document.ts';
import { queueForHubspot } from '../crm/queuePersonsForHubspot.ts';
import { dueLetters, withdrawLetters } from '../letters/dueLetters.ts';
import { transaction } from '../platform/database/transaction.ts';
import type { DocumentTable, Tables } from '../platform/database/types.ts';
import { Failed } from '../platform/failed.ts';
import { hasEnded, joinHolds } from '../session/members.ts';
import { fullName } from '../session/person.ts';
import { isProof, isUnseen } from '../session/proof.ts';
import type { Deps } from './deps.ts';
import { proofJoin } from './proofJoin.ts';

type Verdict = { review: 'accepted' } | { review: 'rejected'; reason: RejectionReason };

/** Thrown if there is nothing to decide on a join's transcripts. The message is a sentence for staff with the reason. */
export class NothingToDecide extends Failed {}

const CHANGED =
  'What was to be decided has changed since it was shown, so nothing was decided. Please look again.';
const ON_ITS_WAY =
  'The letter about this decision is on its way, so it is not taken back. Decide otherwise, and the applicant gets another letter.';

/** The effects of a decision that was made or, with `isTrial`, would be made. */
export interface Reviewed {
  /** How many transcripts the decision is about. */
  count: number;
  /** How many of the transcripts that are rejected now were accepted before. */
  acceptedBefore: number;
  /** The reason of an earlier rejection that the decision takes back or replaces; null if there was none. */
  rejectedBefore: RejectionReason | null;
  /** The ids of the transcripts. */
  transcripts: string[];
}

export interface HowToReview {
  isTrial?: boolean;
  /** The result of a trial. Nothing is decided unless the decision would still have this result. */
  seen?: Reviewed | undefined;
  /** How long (s) the letter about the decision is delayed, so that the decision can be taken back. */
  undoSeconds?: number;
}

/**
 * Records the decision of staff on all pending transcripts of a join; for an upgrade by link, of its base's join. A rejection
 * also replaces an earlier acceptance. If no transcript is pending, the decision replaces the last rejection. Final rejections
 * are made by {@link rejectFinally}. Throws {@link NothingToDecide}, also if retention has removed the files of all transcripts
 * that would be accepted, and {@link Failed} if the decision is not the one that was `seen`. With `isTrial`, changes nothing.
 */
export async function reviewTranscripts(
  deps: Deps,
  uuid: string,
  verdict: Verdict,
  how: HowToReview = {},
): Promise<Reviewed> {
  const join = await proofJoin(deps.database, uuid);
  return transaction(deps, async (trx) => {
    // Locks the join before its documents. A refund locks them in the same order, so deadlocks cannot occur.
    await trx.selectFrom('join_session').select('uuid').where('uuid', '=', join).forUpdate().execute();
    const transcripts = await lockTranscripts(trx, [uuid, join]);
    const concerned = (await isOver(trx, join)) ? null : concernedBy(transcripts, verdict);
    if (verdict.review === 'accepted' && concerned?.length && concerned.every(({ removed_at }) => removed_at))
      throw new NothingToDecide(filesRemoved(join));
    if (!concerned?.length)
      throw new NothingToDecide(whyNothing(transcripts, join, verdict, { isPast: concerned === null }));
    return recordReview(trx, deps, join, concerned, verdict, how);
  });
}

type Transcript = Pick<
  Selectable<DocumentTable>,
  'id' | 'review' | 'reason' | 'is_final' | 'reviewed_at' | 'removed_at'
>;

/**
 * Locks and returns the transcripts of both `joins`: `named`, which staff have named, and `join`, which owes the proof. The two
 * differ for an upgrade by link, which has transcripts of its own if its base was bought here only later. Leaves out transcripts
 * whose files were removed before anybody decided on them ({@link isUnseen}). Throws {@link NothingToDecide} if all are left out.
 */
export async function lockTranscripts(
  trx: Kysely<Tables>,
  joins: readonly [named: string, join: string],
): Promise<Transcript[]> {
  const transcripts = await trx
    .selectFrom('document')
    .select(['id', 'review', 'reason', 'is_final', 'reviewed_at', 'removed_at'])
    .where('session_uuid', 'in', joins)
    .orderBy('id')
    .forUpdate()
    .execute();
  const seen = transcripts.filter(({ review, removed_at }) => review !== 'open' || removed_at === null);
  if (seen.length === 0 && transcripts.length > 0) throw new NothingToDecide(filesRemoved(joins[1]));
  return seen;
}

/** Returns the transcripts to which a decision applies; none if the decision would change nothing. */
function concernedBy(transcripts: readonly Transcript[], verdict: Verdict): Transcript[] {
  const pending = transcripts.filter(
    ({ review }) => review === 'open' || (review === 'accepted' && verdict.review === 'rejected'),
  );
  if (pending.length > 0) return pending;
  if (transcripts.some(({ review, is_final }) => review === 'accepted' || is_final)) return [];
  const last = lastRejected(transcripts);
  return verdict.review === 'rejected' && last[0]?.reason === verdict.reason ? [] : last;
}

/** Returns the transcripts that were rejected last. One rejection may cover several: these have the same `reviewed_at`. */
function lastRejected(transcripts: readonly Transcript[]): Transcript[] {
  const rejectedAt = ({ review, reviewed_at }: Transcript) =>
    review === 'rejected' ? (reviewed_at?.getTime() ?? 0) : -1;
  const last = Math.max(0, ...transcripts.map(rejectedAt));
  return transcripts.filter((transcript) => rejectedAt(transcript) === last);
}

/** Whether the membership of a join has ended; for an upgrade by link, whether the upgrade has ended ({@link hasEnded}). */
export async function isOver(database: Kysely<Tables>, join: string): Promise<boolean> {
  const { rows } = await sql`select from join_session where uuid = ${join} and ${hasEnded('uuid')}`.execute(
    database,
  );
  return rows.length > 0;
}

export function membershipOver(join: string): string {
  return `The membership of join ${join} has ended, so there is nothing to decide about its transcripts.`;
}

function filesRemoved(join: string): string {
  return `Join ${join} has no transcript to decide on: retention has removed the files, so that nobody can look at them any more.`;
}

export function noTranscript(join: string): string {
  return `Join ${join} has no transcript to decide on.`;
}

function rejectedForGood(join: string): string {
  return `The transcripts of join ${join} were rejected finally, which cannot be taken back.`;
}

function whyNothing(
  transcripts: readonly Transcript[],
  join: string,
  verdict: Verdict,
  { isPast }: { isPast: boolean },
): string {
  if (transcripts.some(({ is_final }) => is_final)) return rejectedForGood(join);
  if (isPast) return membershipOver(join);
  if (transcripts.length === 0) return noTranscript(join);
  return verdict.review === 'accepted'
    ? `The transcripts of join ${join} are accepted already.`
    : `The transcripts of join ${join} are rejected already (${verdict.reason}).`;
}

/**
 * Records a decision on these transcripts of a locked join, makes the letter about the decision due, and makes the join due for
 * HubSpot. Unsent letters about earlier decisions are withdrawn. `join` is the join that owes the proof. With `isTrial`, changes
 * nothing.
 */
export async function recordReview(
  trx: Kysely<Tables>,
  deps: Deps,
  join: string,
  transcripts: readonly Transcript[],
  verdict: Verdict,
  { isFinal = false, isTrial = false, seen, undoSeconds = 0 }: HowToReview & { isFinal?: boolean } = {},
): Promise<Reviewed> {
  const reason = verdict.review === 'rejected' ? verdict.reason : null;
  const isAgain = transcripts.length > 0 && transcripts.every(({ review }) => review === 'rejected');
  const reviewed: Reviewed = {
    count: transcripts.length,
    acceptedBefore: transcripts.filter(({ review }) => review === 'accepted').length,
    rejectedBefore: isAgain ? transcripts[0]!.reason : null,
    transcripts: transcripts.map(({ id }) => id).sort(),
  };
  if (seen && !isDeepStrictEqual(seen, reviewed)) throw new Failed(CHANGED);
  if (isTrial || transcripts.length === 0) return reviewed;
  const ids = reviewed.transcripts;
  const now = deps.now();
  await trx
    .updateTable('document')
    .set({ session_uuid: join, review: verdict.review, reason, is_final: isFinal, reviewed_at: now })
    .where('id', 'in', ids)
    .execute();
  // A database trigger records each decision as a step of the join, but not a change of the reason alone. That step is recorded
  // here.
  if (isAgain && reason !== null && !isFinal)
    await sql`
      insert into join_event (session_uuid, step, cause, detail)
      select ${join}, 'document_rejected', 'staff',
        jsonb_build_object('document', id, 'kind', kind, 'bytes', size_bytes, 'reason', reason, 'isFinal', is_final)
      from document where id = any(${ids}::uuid[])`.execute(trx);
  await queueForHubspot(trx, join);
  await withdrawLetters(trx, join, ['proof-accepted', 'proof-rejected']);
  const occasion = occasionOf(ids, isFinal ? 'final' : now);
  const about = { sessionUuid: join, occasion, afterHours: undoSeconds / 3_600 };
  await dueLetters(trx, deps, [
    verdict.review === 'accepted'
      ? { kind: 'proof-accepted', ...about }
      : { kind: 'proof-rejected', ...about, data: { reason, isFinal } },
  ]);
  return reviewed;
}

/** Returns the occasion of the letter about a decision on these transcripts. */
function occasionOf(ids: readonly string[], at: Date | 'final'): string {
  return `${ids.toSorted()[0]} ${at === 'final' ? at : at.toISOString()}`;
}

/** The decision that was taken back or, in a trial, would be taken back. */
export interface TakenBack {
  count: number;
  review: 'accepted' | 'rejected';
  decidedAt: Date;
}

/**
 * Takes the last decision on a join's transcripts back: they wait for a decision again, and the letter about it is withdrawn.
 * Throws {@link NothingToDecide} if there is no such decision, it was final, or the membership has ended. Throws {@link Failed}
 * if the letter may have been sent, or if the decision is not the one that was `seen`. With `isTrial`, changes nothing.
 */
export async function reopenTranscripts(
  deps: Deps,
  uuid: string,
  { isTrial = false, seen }: { isTrial?: boolean; seen?: TakenBack | undefined } = {},
): Promise<TakenBack> {
  const join = await proofJoin(deps.database, uuid);
  return transaction(deps, async (trx) => {
    await trx.selectFrom('join_session').select('uuid').where('uuid', '=', join).forUpdate().execute();
    const transcripts = await lockTranscripts(trx, [uuid, join]);
    const decided = transcripts.filter(({ review }) => review !== 'open');
    const decidedAt = new Date(Math.max(0, ...decided.map(({ reviewed_at }) => reviewed_at?.getTime() ?? 0)));
    const last = decided.filter(({ reviewed_at }) => reviewed_at?.getTime() === decidedAt.getTime());
    if (last.some(({ is_final }) => is_final)) throw new NothingToDecide(rejectedForGood(join));
    if (await isOver(trx, join)) throw new NothingToDecide(membershipOver(join));
    if (last.length === 0)
      throw new NothingToDecide(`Nothing was decided on the transcripts of join ${join}.`);
    const taken: TakenBack = { count: last.length, review: last[0]!.review as 'accepted', decidedAt };
    if (seen && !isDeepStrictEqual(seen, taken)) throw new Failed(CHANGED);
    const ids = last.map(({ id }) => id);
    // While this row is locked, no server begins to send the letter.
    const { rows } = await sql<{ isTried: boolean }>`
      select sent_at is not null or attempts > 0 as "isTried" from letter
      where session_uuid = ${join} and kind in ('proof-accepted', 'proof-rejected') and occasion = ${occasionOf(ids, decidedAt)}
      for update`.execute(trx);
    if (rows.some(({ isTried }) => isTried)) throw new Failed(ON_ITS_WAY);
    if (isTrial) return taken;
    await trx
      .updateTable('document')
      .set({ review: 'open', reason: null, reviewed_at: null })
      .where('id', 'in', ids)
      .execute();
    await queueForHubspot(trx, join);
    await withdrawLetters(trx, join, ['proof-accepted', 'proof-rejected']);
    return taken;
  });
}

/**
 * The applicant's data, for staff to compare with the transcript. Each value is that of the person's details, without these that
 * of the join's details, and without either that of the contact; null if it is unknown.
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
  coalesce(known ->> 'personalEmail', person.email) as email, nullif(known ->> 'highSchoolName', '') as school,
  nullif(known ->> 'highSchoolGraduationYear', '') as "graduationYear", nullif(known ->> 'highSchoolGpa', '') as gpa`;
const ofSession = sql`
  left join person on person.id = session.person_id,
  lateral (select coalesce(person.details, session.details, person.profile) as known) as told`;

/**
 * The position in a list after which the next page starts: the time (µs) of the last row shown, and the row's key, which
 * distinguishes rows of the same time.
 */
export interface ListCursor {
  micros: string;
  key: string;
}

const microsOf = (time: RawBuilder<unknown>) =>
  sql<string>`(extract(epoch from ${time}) * 1000000)::bigint::text`;
const cursorOf = ({ micros, key }: ListCursor, type: RawBuilder<unknown>) =>
  sql`(timestamptz 'epoch' + ${micros}::bigint * interval '1 microsecond', ${key}::${type})`;

interface Listing {
  /** If given, only these joins are listed. */
  joins?: readonly string[];
  /** If given, only rows after this position are listed. */
  after?: ListCursor | null;
  /** The maximum number of rows; null for all rows. */
  most?: number | null;
}

const amongst = (joins: readonly string[] | undefined) =>
  joins ? sql`session.uuid = any(${joins}::uuid[])` : sql`true`;

export interface Waiting extends Applicant, ListCursor {
  uuid: string;
  programme: string;
  since: Date;
  count: number;
}

/** SQL for whether the query's `document` is a transcript that waits for a decision and whose file still exists. */
const waits = sql<boolean>`(kind = 'transcript' and review = 'open' and not ${isUnseen})`;

/** SQL for pending transcripts, `first`, with their joins. */
const firstWaiting = sql`(
      select session_uuid, created_at as since, id as key from document where ${waits}
    ) as first join join_session session on uuid = session_uuid`;
/** SQL for whether `first` is the first pending transcript of its join, and the membership has not ended. */
const isFirst = sql`
    not exists (select from document where session_uuid = uuid and ${waits} and (created_at, id) < (since, key))
      and not ${hasEnded('session.uuid')}`;

/** Returns the joins with pending transcripts, the longest waiting first. Leaves out joins whose membership has ended. */
export async function waitingTranscripts(
  { database }: Pick<Deps, 'database'>,
  { joins, after = null, most = null }: Listing = {},
): Promise<Waiting[]> {
  const { rows } = await sql<Waiting>`
    select uuid, programme, since, ${microsOf(sql`since`)} as micros, key, (
        select count(*)::int from document where session_uuid = uuid and ${waits}) as count, ${applicant}
    from ${firstWaiting} ${ofSession}
    where ${isFirst} and ${amongst(joins)} and ${after ? sql`(since, key) > ${cursorOf(after, sql`uuid`)}` : sql`true`}
    order by since, key limit ${most}`.execute(database);
  return rows;
}

/** The number of waiting joins, counted up to a limit, and since when the first of them has waited (null if none waits). */
export interface Waits {
  count: number;
  since: Date | null;
}

/** Counts what {@link waitingTranscripts} lists, up to `most`. */
export async function countWaiting({ database }: Pick<Deps, 'database'>, most: number): Promise<Waits> {
  const { rows } = await sql<Waits>`
    select count(*)::int as count, min(since) as since from (
      select since from ${firstWaiting} where ${isFirst} order by since limit ${most}) as waiting`.execute(
    database,
  );
  return rows[0]!;
}

/** Returns the applicant of a join and the join's programme; null if there is no such join. */
export async function applicantOf(
  { database }: Pick<Deps, 'database'>,
  uuid: string,
): Promise<(Applicant & { programme: string }) | null> {
  const { rows } = await sql<Applicant & { programme: string }>`
    select programme, ${applicant} from join_session session ${ofSession} where uuid = ${uuid}`.execute(
    database,
  );
  return rows[0] ?? null;
}

export interface DueProof extends Applicant, ListCursor {
  uuid: string;
  programme: string;
  paidAt: Date;
}

/**
 * SQL for whether the proof of the query's `session` is overdue: a transcript is required, the join was paid more than {@link
 * PROOF_DUE_DAYS} days ago and holds a membership, and no transcript is accepted or pending.
 */
function isOverdue({ society, now }: Pick<Deps, 'society' | 'now'>): RawBuilder<boolean> {
  const required = Object.entries(society.programmes)
    .filter(([, programme]) => programme.transcriptRequired)
    .map(([name]) => name);
  // With a limit, PostgreSQL does not turn these subqueries into joins that read whole tables.
  return sql`
    state = 'paid' and session.erased_at is null and paid_at < ${now()}::timestamptz - make_interval(days => ${PROOF_DUE_DAYS})
      and (origin = 'self_nomination' or programme = any(${required}))
      and (select true where ${joinHolds('session.uuid', 'membership')} limit 1)
      and (select true from document where session_uuid = uuid and ${isProof} limit 1) is null`;
}

/** Returns the joins whose proof is overdue ({@link isOverdue}). The longest waiting come first. */
export async function dueProofs(
  deps: Pick<Deps, 'database' | 'society' | 'now'>,
  { joins, after = null, most = null }: Listing = {},
): Promise<DueProof[]> {
  const key = sql`md5(uuid::text)`;
  const { rows } = await sql<DueProof>`
    select uuid, programme, paid_at as "paidAt", ${microsOf(sql`paid_at`)} as micros, ${key} as key, ${applicant}
    from join_session session ${ofSession}
    where ${isOverdue(deps)} and ${amongst(joins)}
      and ${after ? sql`(paid_at, ${key}) > ${cursorOf(after, sql`text`)}` : sql`true`}
    order by paid_at, ${key} limit ${most}`.execute(deps.database);
  return rows;
}

/** Counts what {@link dueProofs} lists, up to `most`. */
export async function countOverdue(
  deps: Pick<Deps, 'database' | 'society' | 'now'>,
  most: number,
): Promise<Waits> {
  const { rows } = await sql<Waits>`
    select count(*)::int as count, min(paid_at) as since from (
      select paid_at from join_session session where ${isOverdue(deps)} order by paid_at limit ${most}) as due`.execute(
    deps.database,
  );
  return rows[0]!;
}

/** A decision by staff on the transcripts of a join. */
export interface Decision {
  at: Date;
  /** Who decided; null if that is not known. */
  by: string | null;
  /** `open`: staff took the previous decision back. */
  review: 'accepted' | 'rejected' | 'open';
  reason: RejectionReason | null;
  isFinal: boolean;
}

/** Returns the decisions on the transcripts of a join that are in its story, the oldest first. */
export async function decisionsOn(database: Kysely<Tables>, join: string): Promise<Decision[]> {
  const { rows } = await sql<Decision>`
    select distinct on (at) at, actor as by, substr(step, 10) as review, detail ->> 'reason' as reason,
      coalesce((detail ->> 'isFinal')::boolean, false) as "isFinal"
    from join_event where session_uuid = ${join} and step in ('document_accepted', 'document_rejected', 'document_open') order by at`.execute(
    database,
  );
  return rows;
}

export interface Decided extends Applicant, ListCursor, Pick<Decision, 'by' | 'isFinal'> {
  review: Exclude<Decision['review'], 'open'>;
  uuid: string;
  programme: string;
  decidedAt: Date;
  /** How many transcripts the decision was about. */
  count: number;
}

/** Returns the joins whose transcripts were decided, each with its last decision. The latest come first. */
export async function decidedTranscripts(
  { database }: Pick<Deps, 'database'>,
  { after = null, most = null }: Omit<Listing, 'joins'> = {},
): Promise<Decided[]> {
  const isDecided = sql`(kind = 'transcript' and reviewed_at is not null)`;
  const { rows } = await sql<Decided>`
    select uuid, programme, "decidedAt", ${microsOf(sql`"decidedAt"`)} as micros, key, last.review, "isFinal", (
        select count(*)::int from document where session_uuid = uuid and reviewed_at = "decidedAt") as count,
      (select actor from join_event where session_uuid = uuid and step = 'document_' || last.review order by id desc limit 1) as by, ${applicant}
    from (
      select session_uuid, reviewed_at as "decidedAt", id as key, review, is_final as "isFinal" from document where ${isDecided}
    ) as last join join_session session on uuid = session_uuid ${ofSession}
    where not exists (select from document where session_uuid = uuid and ${isDecided} and (reviewed_at, id) > ("decidedAt", key))
      and session.erased_at is null and ${after ? sql`("decidedAt", key) < ${cursorOf(after, sql`uuid`)}` : sql`"decidedAt" <= 'infinity'`}
    order by "decidedAt" desc, key desc limit ${most}`.execute(database);
  return rows;
}
