import { sql } from 'kysely';
import type { Deps } from '../deps.ts';
import { cancelIntent } from '../payments/cancelIntent.ts';
import { confirmPayment } from '../payments/confirmPayment.ts';
import { standingOf, whyNot } from '../session/standing.ts';

/**
 * Skip is honored: the offer does not come back, and an intent that a card form may still hold is cancelled. One that
 * was paid in this very moment confirms. Answers where the join goes on.
 */
export async function skipUpgrade(deps: Deps, uuid: string): Promise<string> {
  // First: from now on no intent is opened. See openUpgrade, which locks the same row.
  await deps.database
    .updateTable('join_session')
    .set({ upgrade: 'skipped', updated_at: sql`now()` })
    .where('uuid', '=', uuid)
    .where('state', '=', 'paid')
    .where('upgrade', '=', 'open')
    .execute();
  const open = await deps.database
    .selectFrom('payment')
    .select('intent_id')
    .where('session_uuid', '=', uuid)
    .where('kind', '=', 'upgrade')
    .where('status', '=', 'open')
    .executeTakeFirst();
  if (open && !(await cancelIntent(deps, open.intent_id))) await confirmPayment(deps, open.intent_id);
  const standing = await standingOf(deps, uuid);
  if (standing?.state !== 'paid') throw await whyNot(deps, 'skipUpgrade', uuid);
  return standing.goOn;
}
