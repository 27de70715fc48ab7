import { sql } from 'kysely';
import type { Holding } from '#core/holding.ts';
import { standingFor } from '../session/standing.ts';
import { stateAllows, transitions } from '../session/states.ts';
import { cancelIntent } from './cancelIntent.ts';
import { confirmPayment } from './confirmPayment.ts';
import type { Deps } from './deps.ts';

/**
 * Skips the upgrade, which is then not offered again. Cancels the upgrade's open intent, because a card form may still show it.
 * If it was paid just now, confirms it instead. Returns the page on which the join continues.
 */
export async function skipUpgrade(deps: Deps, uuid: string, holding: Holding): Promise<string> {
  await standingFor(deps, 'skipUpgrade', uuid, holding);
  // Writes the skip before the open intent is read. After that no new intent can be opened, since openUpgrade locks the same row.
  await sql`
    update join_session set ${transitions.skipUpgrade}
    where uuid = ${uuid} and ${stateAllows('skipUpgrade')} and upgrade = 'open'`.execute(deps.database);
  const open = await deps.database
    .selectFrom('payment')
    .select('intent_id')
    .where('session_uuid', '=', uuid)
    .where('kind', '=', 'upgrade')
    .where('status', '=', 'open')
    .executeTakeFirst();
  if (open && !(await cancelIntent(deps, open.intent_id))) await confirmPayment(deps, open.intent_id);
  return (await standingFor(deps, 'skipUpgrade', uuid, holding)).goOn;
}
