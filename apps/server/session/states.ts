import { type Kysely, type RawBuilder, sql } from 'kysely';
import { type SessionAction, sessionActions, statesAllowing } from '#core/joinSession.ts';
import type { Tables } from '../platform/database/types.ts';

/** SQL for whether the column `state` allows an action. With it, one statement can both check the state and write. */
export function stateAllows(action: SessionAction): RawBuilder<boolean> {
  return conditions[action];
}

const conditions = Object.fromEntries(
  sessionActions.map((action) => [
    action,
    sql.raw(
      `state in (${statesAllowing(action)
        .map((state) => `'${state}'`)
        .join(', ')})`,
    ),
  ]),
) as Record<SessionAction, RawBuilder<boolean>>;

/**
 * SQL for the columns that each transition writes: a part of `update join_session set …`. Nothing else changes the state of an
 * existing join or of its upgrade. The statement that uses a transition must check that the state allows it, for example with
 * {@link stateAllows}.
 */
export const transitions = {
  submitDetails: sql`state = case state when 'started' then 'detailed' else state end, updated_at = now()`,
  chooseMembership: sql`state = 'ordering', updated_at = now()`,
  freeze: sql`state = 'paying', paying_since = now(), begun_revision = revision, updated_at = now()`,
  /** Opens the order again after its payment failed, was abandoned or bought nothing. */
  reopen: sql`state = 'ordering', paying_since = null, updated_at = now()`,
  /** Marks the join as paid. `at` is the time of payment; null means now. */
  markPaid: (at: Date | null = null) =>
    sql`state = 'paid', paid_at = coalesce(paid_at, ${at}::timestamptz, now()), paying_since = null, updated_at = now()`,
  /** Undoes `markPaid` for a join that is unpaid according to Stripe. */
  undoPayment: sql`state = 'ordering', paid_at = null, paying_since = null, updated_at = now()`,
  skipUpgrade: sql`upgrade = 'skipped', updated_at = now()`,
  takeUpgrade: sql`upgrade = 'taken', updated_at = now()`,
  reopenUpgrade: sql`upgrade = 'open', updated_at = now()`,
} as const satisfies Record<string, RawBuilder<unknown> | ((at: Date | null) => RawBuilder<unknown>)>;

/** Reopens the frozen orders of the joins that match an SQL condition on `join_session`. Returns whether there were any. */
export async function reopenFrozen(
  database: Kysely<Tables>,
  condition: RawBuilder<boolean>,
): Promise<boolean> {
  const { rows } = await sql`
    update join_session set ${transitions.reopen} where state = 'paying' and ${condition} returning uuid`.execute(
    database,
  );
  return rows.length > 0;
}
