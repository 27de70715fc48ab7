import { type Kysely, type RawBuilder, sql } from 'kysely';
import { type SessionAction, sessionActions, statesAllowing } from '#core/joinSession.ts';
import type { Tables } from '../platform/database/types.ts';

/** Whether `state` allows an action: a statement checks it and writes in one go. */
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
 * What each transition writes: a part of `update join_session set …`. No other place changes the state of a join that is there,
 * or what becomes of its upgrade. Which states allow it is said by {@link stateAllows}, or by the statement that contains it.
 */
export const transitions = {
  submitDetails: sql`state = case state when 'started' then 'detailed' else state end, updated_at = now()`,
  chooseMembership: sql`state = 'ordering', updated_at = now()`,
  freeze: sql`state = 'paying', paying_since = now(), updated_at = now()`,
  /** The payment came to nothing. */
  reopen: sql`state = 'ordering', paying_since = null, updated_at = now()`,
  /** `at`: when it was really paid, should that be known. */
  markPaid: (at: Date | null = null) =>
    sql`state = 'paid', paid_at = coalesce(paid_at, ${at}::timestamptz, now()), paying_since = null, updated_at = now()`,
  /** What was held as paid is not, as Stripe says. */
  undoPayment: sql`state = 'ordering', paid_at = null, paying_since = null, updated_at = now()`,
  skipUpgrade: sql`upgrade = 'skipped', updated_at = now()`,
  takeUpgrade: sql`upgrade = 'taken', updated_at = now()`,
  reopenUpgrade: sql`upgrade = 'open', updated_at = now()`,
} as const satisfies Record<string, RawBuilder<unknown> | ((at: Date | null) => RawBuilder<unknown>)>;

/** Opens the frozen orders for which a condition on `join_session` holds. */
export async function reopenFrozen(database: Kysely<Tables>, condition: RawBuilder<boolean>): Promise<void> {
  await sql`update join_session set ${transitions.reopen} where state = 'paying' and ${condition}`.execute(
    database,
  );
}
