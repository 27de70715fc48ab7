import { isDeepStrictEqual } from 'node:util';
import { type Kysely, type RawBuilder, sql } from 'kysely';
import { type BaseFacts, baseOf } from '#core/people.ts';
import { isWaiting, listParcels, parcelOf } from '../../membership/orders.ts';
import { repeat } from '../../platform/background.ts';
import { postpone, takeTurn } from '../../platform/database/schedule.ts';
import type { Tables } from '../../platform/database/types.ts';
import { Changed } from '../../platform/failed.ts';
import { Refusal } from '../../platform/http/refusal.ts';
import { goesBack } from '../../session/goesBack.ts';
import { baseFacts, hasEnded } from '../../session/members.ts';
import type { Deps } from '../deps.ts';
import { dueAtStripe, removeAtStripe } from './atStripe.ts';
import { eraseJoins, NotErasable, removeUnused } from './eraseJoins.ts';
import { emailHasher } from './findPerson.ts';
import { filesAtHubspot, keepIds } from './leftAtHubspot.ts';
import { reasonOf } from './stoppedErasing.ts';
import { underWay } from './underWay.ts';

const LOOK_MS = 600_000;
const DAY_SECONDS = 86_400;
/** A nightly run that was interrupted or failed is repeated after this many seconds. */
const RETRY_SECONDS = 3_600;
/** The most joins, documents or notices of each stage that one batch removes. A nightly run takes as many batches as it needs. */
export const MOST = 500;
/** If this many items of a stage fail, a common cause is assumed. The rest of the stage is then left to the next run. */
const MOST_FAILED = 20;

export const stages = ['abandoned', 'rejected', 'paid', 'documents', 'notices'] as const;
export type Stage = (typeof stages)[number];
type JoinStage = Exclude<Stage, 'documents' | 'notices'>;

/**
 * SQL for whether the query's `session` is past the retention of a stage, which starts with an event. The event must be earlier
 * than the time `before`:
 * - `abandoned`: the last activity of an unpaid join. False while one of its payments is open, or has money that is neither
 *   refunded nor due to be refunded.
 * - `rejected`: the final rejection of a paid join's transcript. False while the join holds a membership or upgrade.
 *   {@link joinsOf} also leaves out a join while its person holds an upgrade that has lost its base.
 * - `paid`: the payment.
 */
const isOver: Record<JoinStage, (before: RawBuilder<Date>) => RawBuilder<boolean>> = {
  abandoned: (before) => sql`session.state <> 'paid' and session.updated_at < ${before}
    and not exists (select from payment where session_uuid = session.uuid and status <> 'canceled' and not ${goesBack})`,
  rejected: (before) => sql`session.state = 'paid'
    and exists (select from document where session_uuid = session.uuid and is_final and reviewed_at < ${before})
    and not exists (select from membership where session_uuid = session.uuid and is_held)`,
  paid: (before) => sql`session.state = 'paid' and session.paid_at < ${before}`,
};

type Reads = Pick<Deps, 'database' | 'society' | 'now'>;

/**
 * SQL for the time before which a stage's joins, documents or notices are past their retention. Null if they are kept for ever.
 */
function beforeOf({ society, now }: Pick<Deps, 'society' | 'now'>, stage: Stage): RawBuilder<Date> | null {
  const days = society.retention[`${stage}Days`];
  return days === undefined ? null : sql<Date>`(${now()}::timestamptz - make_interval(days => ${days}))`;
}

/**
 * SQL for whether the query's `session` may be erased: it is past the retention of a stage, no work on it is still to be done
 * ({@link underWay}), and it meets the condition `which`.
 */
function mayGo(stage: JoinStage, before: RawBuilder<Date>, which: RawBuilder<boolean>): RawBuilder<boolean> {
  return sql`(session.erased_at is null and ${isOver[stage](before)} and cardinality(${underWay}) = 0 and ${which})`;
}

/**
 * SQL for the condition `which` on the query's `session`. In the stage `paid`, all other paid joins of its person must be
 * erasable as well, because HubSpot has one amount for all of them, and an upgrade needs its membership.
 */
function withOthers(deps: Reads, stage: Stage, which: RawBuilder<boolean>): RawBuilder<boolean> {
  const before = beforeOf(deps, stage);
  if (stage !== 'paid' || before === null) return which;
  return sql`${which} and not exists (select from join_session other
    where other.state = 'paid' and other.erased_at is null and other.person_id = session.person_id
      and not exists (select from join_session session where session.uuid = other.uuid and ${mayGo(stage, before, which)}))`;
}

/**
 * Returns the ids of at most `most` joins, documents or notices that are past the retention of a stage. Leaves out the joins of
 * {@link owing}, and joins with a payment or a decision under way.
 */
export async function overdue(deps: Reads, stage: Stage, most = MOST): Promise<string[]> {
  const owesNothing = sql<boolean>`session.uuid <> all(${await owedTo(deps, stage)}::uuid[])`;
  return idsOf(deps, stage, most, withOthers(deps, stage, owesNothing));
}

/**
 * Returns the joins that are past the retention of a stage but are kept, because goods that they paid for are not sent yet; at
 * most {@link MOST}.
 */
export async function owing(deps: Reads, stage: Stage): Promise<string[]> {
  const owed = await owedTo(deps, stage);
  return owed.length === 0 ? [] : idsOf(deps, stage, MOST, sql`session.uuid = any(${owed}::uuid[])`);
}

/**
 * Returns the joins with goods that are to be sent or are held back. Returns none for a stage that erases no paid joins, and for
 * a stage that the society has not switched on.
 */
async function owedTo(deps: Reads, stage: Stage): Promise<string[]> {
  if ((stage !== 'rejected' && stage !== 'paid') || beforeOf(deps, stage) === null) return [];
  return (await listParcels(deps, { all: false })).map(({ uuid }) => uuid);
}

async function idsOf(deps: Reads, stage: Stage, most: number, which: RawBuilder<boolean>): Promise<string[]> {
  const before = beforeOf(deps, stage);
  if (before === null) return [];
  if (stage !== 'notices' && stage !== 'documents')
    return joinsOf(deps.database, stage, mayGo(stage, before, which), most);
  const { rows } = await listOf(stage, before, most).execute(deps.database);
  return rows.map(({ id }) => id);
}

/**
 * Returns at most `most` of the joins that meet a condition on the query's `session` and need not be kept because of an upgrade.
 */
async function joinsOf(
  database: Kysely<Tables>,
  stage: JoinStage,
  condition: RawBuilder<boolean>,
  most: number,
): Promise<string[]> {
  if (stage !== 'rejected') {
    const { rows } = await sql<{ uuid: string }>`
      select uuid from join_session session where ${condition} order by created_at limit ${most}`.execute(
      database,
    );
    return rows.map(({ uuid }) => uuid);
  }
  const { rows } = await sql<{ uuid: string; bases: BaseFacts[] }>`
    select uuid, (select coalesce(json_agg(${baseFacts('upgrade')}), '[]') from membership upgrade
      where type = 'membership_upgrade' and is_held and person_id = session.person_id) as bases
    from join_session session where ${condition} order by created_at`.execute(database);
  const isFree = ({ bases }: { bases: BaseFacts[] }) => !bases.some((base) => baseOf(base) === 'lost');
  return rows
    .filter(isFree)
    .slice(0, most)
    .map(({ uuid }) => uuid);
}

/**
 * SQL for whether nobody will review the query's `document`: it is a resume, or a transcript that was not reviewed before the
 * membership ended.
 */
const isNeverReviewed = sql<boolean>`(kind = 'resume' or (review = 'open' and ${hasEnded('document.session_uuid')}))`;

/**
 * SQL for the time at which the retention of the query's `document` starts; null if the review is still to come. It starts with
 * the review or, if nobody will review the document, with the upload or the last change of a refund of the join, whichever is
 * later.
 */
const retainedSince = sql<Date | null>`coalesce(reviewed_at, case when ${isNeverReviewed} then greatest(document.created_at,
  (select max(refund.updated_at) from refund join payment using (intent_id) where payment.session_uuid = document.session_uuid)) end)`;

function listOf(
  stage: 'notices' | 'documents',
  before: RawBuilder<Date>,
  most: number,
): RawBuilder<{ id: string }> {
  if (stage === 'notices')
    return sql`select id::text from staff_notice where last_seen_at < ${before} order by last_seen_at limit ${most}`;
  return sql`select id from document where removed_at is null and ${retainedSince} < ${before}
    order by created_at limit ${most}`;
}

/**
 * The records of one stage that are past their retention (at most {@link MOST}), and how many more joins are kept because goods
 * are still to be sent.
 */
export interface StageOverview {
  stage: Stage;
  /** How many days the stage's records are kept; null for ever. */
  days: number | null;
  ids: string[];
  owing: number;
}

export async function overview(deps: Deps): Promise<StageOverview[]> {
  const all: StageOverview[] = [];
  for (const stage of stages)
    all.push({
      stage,
      days: deps.society.retention[`${stage}Days`] ?? null,
      ids: await overdue(deps, stage),
      owing: (await owing(deps, stage)).length,
    });
  return all;
}

/** Thrown if some overdue joins, documents or notices could not be removed. `counts` is how many were removed in each stage. */
export class NotAllRemoved extends Error {
  readonly counts: Record<Stage, number>;

  constructor(counts: Record<Stage, number>, failures: readonly unknown[]) {
    const [first] = failures;
    const what =
      failures.length === 1 ? '1 join, document or notice' : `${failures.length} joins, documents or notices`;
    const reason = first instanceof Error ? first.message : String(first);
    super(`${what} could not be removed: ${reason}`, { cause: first });
    this.counts = counts;
  }
}

/**
 * Removes joins, documents and notices that are past their retention, at most `most` of each stage. Each join is erased in a
 * transaction of its own, by the same code as in a person's erasure. Returns how many were removed in each stage. An item that
 * fails does not stop the other items: {@link NotAllRemoved} is thrown at the end. Also removes persons that are not used any
 * more ({@link forgetUnused}). The caller must call {@link removeAtStripe} afterwards, even on failure.
 */
export async function applyRetention(deps: Deps, most = MOST): Promise<Record<Stage, number>> {
  return removeAll(deps, (stage) => overdue(deps, stage, most));
}

/**
 * Like {@link applyRetention}, for staff who have seen in an {@link overview} what will be removed. Removes nothing, and throws
 * {@link Changed}, if other records are past their retention now. Also makes Stripe erase its objects. `faults` has sentences
 * about what was not done.
 */
export async function removeSeen(
  deps: Deps,
  seen: readonly StageOverview[],
): Promise<{ counts: Record<Stage, number>; faults: string[] }> {
  const now = await overview(deps);
  if (!isDeepStrictEqual(idsByStage(now), idsByStage(seen)))
    throw new Changed('What is over its time has changed since it was shown, so nothing was removed.', now);
  const ids = idsByStage(seen);
  const faults: string[] = [];
  const counts = await removeAll(deps, async (stage) => ids[stage] ?? []).catch((error: unknown) => {
    if (!(error instanceof NotAllRemoved)) throw error;
    faults.push(error.message);
    return error.counts;
  });
  try {
    await removeAtStripe(deps);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    faults.push(`${reasonOf(error)} The servers tell it again what to forget of them.`);
  }
  return { counts, faults };
}

function idsByStage(all: readonly StageOverview[]): Partial<Record<Stage, string[]>> {
  return Object.fromEntries(all.map(({ stage, ids }) => [stage, ids.toSorted()]));
}

async function removeAll(
  deps: Deps,
  idsIn: (stage: Stage) => Promise<readonly string[]>,
): Promise<Record<Stage, number>> {
  const counts: Record<Stage, number> = { abandoned: 0, rejected: 0, paid: 0, documents: 0, notices: 0 };
  const failures: unknown[] = [];
  for (const stage of stages) {
    const before = failures.length;
    for (const id of await idsIn(stage)) {
      try {
        if (await remove(deps, id, stage)) counts[stage]++;
      } catch (error) {
        failures.push(error);
        if (failures.length - before === MOST_FAILED) break;
      }
    }
  }
  await forgetUnused(deps);
  if (failures.length > 0) throw new NotAllRemoved(counts, failures);
  return counts;
}

/**
 * Removes persons whom HubSpot never had, and who have no join, membership, invitation or document, once they are as old as an
 * abandoned join. An example is a person of an import whose code leads to somebody else now.
 */
async function forgetUnused(deps: Deps): Promise<void> {
  const before = beforeOf(deps, 'abandoned');
  if (before === null) return;
  const isUnknown = sql`fetched_at is null and not made_contact and merged_into is null
    and not exists (select from crm_delivery where person_id = person.id and due_at is not null and refusal is null)`;
  await deps.database
    .transaction()
    .execute((trx) => removeUnused(trx, sql`${isUnknown} and created_at < ${before}`));
}

async function remove(deps: Deps, id: string, stage: Stage): Promise<boolean> {
  if (stage === 'documents') return removeDocument(deps, id);
  if (stage !== 'notices') return eraseOne(deps, id, stage);
  const { rows } = await sql`delete from staff_notice where id = ${id} returning id`.execute(deps.database);
  return rows.length > 0;
}

/**
 * Erases a join. Returns false if the join may not be erased now, or has changed since it was listed and is no longer past its
 * retention.
 */
async function eraseOne(deps: Deps, uuid: string, stage: JoinStage): Promise<boolean> {
  try {
    return await deps.database.transaction().execute(async (trx) => {
      // Checks the condition again under a lock, so that the join cannot change before it is erased.
      await sql`select from join_session where uuid = ${uuid} for update`.execute(trx);
      const isDue = mayGo(stage, beforeOf(deps, stage)!, withOthers(deps, stage, sql`true`));
      const due = await joinsOf(trx, stage, sql`session.uuid = ${uuid} and ${isDue}`, 1);
      if (due.length === 0) return false;
      if ((await parcelOf(trx, deps.society, uuid))?.goods.some(isWaiting)) return false;
      await keepFiles(trx, uuid);
      await dueAtStripe(trx, [uuid]);
      await eraseJoins(trx, deps, [uuid]);
      return true;
    });
  } catch (error) {
    if (error instanceof NotErasable) return false;
    throw error;
  }
}

/**
 * Stores the ids of the join's files in HubSpot under the join's emails, so that a later erasure of the person finds them.
 * Retention itself deletes nothing in HubSpot.
 */
async function keepFiles(trx: Kysely<Tables>, uuid: string): Promise<void> {
  const files = await filesAtHubspot(trx, { joins: [uuid], persons: [] });
  if (files.length === 0) return;
  const { rows } = await sql<{ email: string }>`
    select distinct lower(email) as email from join_session,
      lateral (values (details ->> 'personalEmail'), (details ->> 'schoolEmail')) as given (email)
    where uuid = ${uuid} and email <> ''`.execute(trx);
  const hash = await emailHasher(trx);
  await keepIds(
    trx,
    rows.map(({ email }) => hash(email)),
    { contacts: [], files },
  );
}

/**
 * Removes a document's file and name. The review of a transcript stays, so that the member need not upload another transcript. A
 * refusal by HubSpot is removed if HubSpot does not have the file: the file is gone here, so it cannot be sent again.
 */
function removeDocument({ database, storage }: Deps, id: string): Promise<boolean> {
  return database.transaction().execute(async (trx) => {
    const { rows } = await sql<{ storage_key: string }>`
      update document set removed_at = now(), name = 'removed', sha256 = '',
        crm_refusal = case when crm_file_id is null then null else crm_refusal end
      where id = ${id} and removed_at is null and (review <> 'open' or ${isNeverReviewed}) returning storage_key`.execute(
      trx,
    );
    for (const { storage_key } of rows) await storage.remove(storage_key);
    return rows.length > 0;
  });
}

/** Checks every ten minutes whether the nightly run is due. */
export function startForgetting(deps: Deps): () => Promise<void> {
  return repeat('retention', LOOK_MS, deps.log, () => forgetNightly(deps));
}

/**
 * Once a day, and in only one of the processes, removes everything that is past its retention. Logs how many items of each stage
 * were removed, and nothing about persons. Every call also makes Stripe erase the objects that it still has to erase, even if no
 * daily run is due. Returns true if more items are past their retention.
 */
export async function forgetNightly(deps: Deps, most = MOST): Promise<boolean> {
  if (!(await takeTurn(deps.database, 'retention', RETRY_SECONDS))) {
    await removeAtStripe(deps);
    return false;
  }
  let counts: Record<Stage, number>;
  try {
    counts = await applyRetention(deps, most);
  } catch (error) {
    if (error instanceof NotAllRemoved) logCounts(deps, error.counts);
    await removeAtStripe(deps);
    throw error;
  }
  logCounts(deps, counts);
  const isMore = Object.values(counts).some((count) => count > 0) && (await isAnyOverdue(deps));
  await postpone(deps.database, 'retention', isMore ? 0 : DAY_SECONDS);
  await removeAtStripe(deps);
  return isMore;
}

async function isAnyOverdue(deps: Deps): Promise<boolean> {
  for (const stage of stages) if ((await overdue(deps, stage, 1)).length > 0) return true;
  return false;
}

function logCounts({ log }: Pick<Deps, 'log'>, counts: Record<Stage, number>): void {
  if (Object.values(counts).some((count) => count > 0)) log.warn(counts, 'retention has removed');
}
