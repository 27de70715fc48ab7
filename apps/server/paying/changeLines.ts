import { type RawBuilder, sql } from 'kysely';
import { type Holding, isOpenIn, type JoinAccess } from '#core/holding.ts';
import { refusal } from '#core/joinSession.ts';
import type { OpenLine, OpenOrder } from '#core/orderLine.ts';
import type { Holdings } from '#core/people.ts';
import { statement } from '../platform/database/statement.ts';
import { joinerHoldings } from '../session/members.ts';
import { accessOf, refusalFor } from '../session/standing.ts';
import { stateAllows, transitions } from '../session/states.ts';
import type { Deps } from './deps.ts';
import { whileFrozen } from './settlePaying.ts';

/** An order that may be changed, with the facts that decide whether a change is allowed. */
export interface ChangeableOrder extends OpenOrder {
  programme: string;
  /** What the joiner holds already. Read only for `setMembership`, otherwise null. */
  joiner: Holdings | null;
}

const readOrder = (joiner: RawBuilder<Holdings | null>) =>
  statement<{ uuid: string }, ChangeableOrder & JoinAccess>(
    ({ uuid }) => sql`
      select ${accessOf('join_session')}, programme, lines, revision, ${joiner} as joiner
      from join_session where uuid = ${uuid}`,
  );
const readFor = {
  setMembership: readOrder(joinerHoldings('join_session')),
  changeOrder: readOrder(sql<null>`null`),
};

/**
 * Writes the lines of an order and adds `added` to its revision, if the order still has the revision that was read, and nobody
 * has proven since to be the joiner.
 */
const writeOrder = (action: 'setMembership' | 'changeOrder') =>
  statement<{ uuid: string; lines: string; revision: number; isProven: boolean; added: 0 | 1 }, unknown>(
    ({ uuid, lines, revision, isProven, added }) => sql`
      update join_session set ${transitions.chooseMembership}, lines = ${lines}::jsonb, revision = revision + ${added}
      where uuid = ${uuid} and ${stateAllows(action)} and revision = ${revision} and (proven_at is not null) = ${isProven}`,
  );
const writeFor = { setMembership: writeOrder('setMembership'), changeOrder: writeOrder('changeOrder') };

/**
 * Changes the lines of a join's order and returns them. `decide` returns the new lines; the present lines if nothing changes; or
 * null if the change is impossible (409 with the sentence `otherwise`). It may also throw a Refusal. It runs again if the order
 * has changed meanwhile. An order that is being paid is changed only once its payment has failed or was abandoned.
 */
export async function changeLines(
  deps: Deps,
  action: 'setMembership' | 'changeOrder',
  { uuid, holding }: { uuid: string; holding: Holding },
  decide: (order: ChangeableOrder) => readonly OpenLine[] | null,
  otherwise?: string,
): Promise<readonly OpenLine[]> {
  const change = async (): Promise<readonly OpenLine[] | undefined> => {
    const { rows } = await readFor[action](deps.database, { uuid });
    const [order] = rows;
    if (!order || !isOpenIn(holding, order) || refusal(action, order.state) !== null) return undefined;
    const lines = decide(order);
    if (lines === null)
      throw await refusalFor(deps, action, uuid, { holding, ...(otherwise && { otherwise }) });
    if (lines === order.lines && order.state === 'ordering') return lines;
    const written = await writeFor[action](deps.database, {
      uuid,
      lines: JSON.stringify(lines),
      revision: order.revision,
      isProven: order.isProven,
      added: lines === order.lines ? 0 : 1,
    });
    return written.numAffectedRows === 1n ? lines : change();
  };
  const lines = await whileFrozen(deps, uuid, holding, change);
  if (!lines) throw await refusalFor(deps, action, uuid, { holding });
  return lines;
}
