import { sql } from 'kysely';
import { type Holding, isOpenIn, type JoinAccess } from '#core/holding.ts';
import { refusal, type SessionAction } from '#core/joinSession.ts';
import type { OpenLine, OpenOrder } from '#core/orderLine.ts';
import type { Holdings } from '#core/people.ts';
import { joinerHoldings } from '../session/members.ts';
import { accessOf, refusalFor } from '../session/standing.ts';
import { stateAllows, transitions } from '../session/states.ts';
import type { Deps } from './deps.ts';
import { whileFrozen } from './settlePaying.ts';

/** An order that may be changed, and what decides on a change. */
export interface ChangeableOrder extends OpenOrder {
  programme: string;
  joiner: Holdings;
}

/**
 * Changes the lines of a join's order and returns them. `decide` returns the new lines, the present ones if nothing changes, or null if
 * the order cannot be changed so (409 with the sentence `otherwise`), or throws a Refusal. It runs again if the order has changed
 * meanwhile. An order that is being paid is changed only once its payment has failed or was abandoned.
 */
export async function changeLines(
  deps: Deps,
  action: SessionAction & ('setMembership' | 'changeOrder'),
  { uuid, holding }: { uuid: string; holding: Holding },
  decide: (order: ChangeableOrder) => readonly OpenLine[] | null,
  otherwise?: string,
): Promise<readonly OpenLine[]> {
  const change = async (): Promise<readonly OpenLine[] | undefined> => {
    const { rows } = await sql<ChangeableOrder & JoinAccess>`
      select ${accessOf('join_session')}, programme, lines, revision, ${joinerHoldings('join_session')} as joiner
      from join_session where uuid = ${uuid}`.execute(deps.database);
    const [order] = rows;
    if (!order || !isOpenIn(holding, order) || refusal(action, order.state) !== null) return undefined;
    const lines = decide(order);
    if (lines === null)
      throw await refusalFor(deps, action, uuid, { holding, ...(otherwise && { otherwise }) });
    if (lines === order.lines && order.state === 'ordering') return lines;
    const written = await sql`
      update join_session set ${transitions.chooseMembership}, lines = ${JSON.stringify(lines)}::jsonb,
        revision = revision + ${lines === order.lines ? 0 : 1}
      where uuid = ${uuid} and ${stateAllows(action)} and revision = ${order.revision} and (proven_at is not null) = ${order.isProven}`.execute(
      deps.database,
    );
    return written.numAffectedRows === 1n ? lines : change();
  };
  const lines = await whileFrozen(deps, uuid, holding, change);
  if (!lines) throw await refusalFor(deps, action, uuid, { holding });
  return lines;
}
