import { type Kysely, type RawBuilder, sql } from 'kysely';
import { type SessionAction, sessionActions, statesAllowing } from '#core/joinSession.ts';
import type { Tables } from '../platform/database/types.ts';

/** An SQL condition on whether `state` allows an action, so that one statement can both check and write. */
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
 * What each transition writes: a part of `update join_session set …`. Nothing else changes the state of an existing join, or the
 * state of its upgrade. {@link stateAllows}, or the statement around it, checks that the state allows the transition.
 */
export const transitions = {
  submitDetails: sql`state = case state when 'started' then 'detailed' else state end, updated_at = now()`,
  chooseMembership: sql`state = 'ordering', updated_at = now()`,
  freeze: sql`state = 'paying', paying_since = now(), updated_at = now()`,
  /** The payment came to nothing. */
  reopen: sql`state = 'ordering', paying_since = null, updated_at = now()`,
  /** `at`: when the join was actually paid, if not now. */
  markPaid: (at: Date | null = null) =>
    sql`state = 'paid', paid_at = coalesce(paid_at, ${at}::timestamptz, now()), paying_since = null, updated_at = now()`,
  /** Stripe says that a join recorded as paid is not paid. */
  undoPayment: sql`state = 'ordering', paid_at = null, paying_since = null, updated_at = now()`,
  skipUpgrade: sql`upgrade = 'skipped', updated_at = now()`,
  takeUpgrade: sql`upgrade = 'taken', updated_at = now()`,
  reopenUpgrade: sql`upgrade = 'open', updated_at = now()`,
} as const satisfies Record<string, RawBuilder<unknown> | ((at: Date | null) => RawBuilder<unknown>)>;

/** Reopens the frozen orders that match a condition on `join_session`. */
export async function reopenFrozen(database: Kysely<Tables>, condition: RawBuilder<boolean>): Promise<void> {
  await sql`update join_session set ${transitions.reopen} where state = 'paying' and ${condition}`.execute(
    database,
  );
}
