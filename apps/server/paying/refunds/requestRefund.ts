import { type Kysely, sql } from 'kysely';
import type { Data } from '#contract/schemas.ts';
import { cleanText } from '#core/cleanText.ts';
import { type Holding, seesJoiner } from '#core/holding.ts';
import { displayPrice } from '#core/money.ts';
import { PROVE_FIRST } from '#core/pass.ts';
import { type Asked, askedIn, keptLines, requestedWish, whyNotAsked } from '#core/refundRequest.ts';
import { planRefund } from '#core/refunds.ts';
import { dueLetters } from '../../letters/dueLetters.ts';
import { parcelOf } from '../../membership/orders.ts';
import { transaction } from '../../platform/database/transaction.ts';
import type { Tables } from '../../platform/database/types.ts';
import type { ByStaff } from '../../platform/deps.ts';
import { Failed } from '../../platform/failed.ts';
import { Refusal } from '../../platform/http/refusal.ts';
import { standingFor } from '../../session/standing.ts';
import { dayOf } from '../../society/texts.ts';
import type { Deps } from '../deps.ts';
import { lockJoins } from './followPayment.ts';
import { paidOrders } from './paidOrders.ts';
import { previewRefund } from './previewRefund.ts';
import { isOpenRequest } from './readRequests.ts';

type Shown = Data<'getRefundRequest'>;

const DAY_MS = 86_400_000;
const SAY_WHY = 'Say why in a sentence: the member gets it in a letter.';
export const NO_OPEN_REQUEST =
  'There is no request that waits for an answer. Perhaps a colleague has answered it.';

/**
 * Returns what a member would get back by the society's terms if they requested a refund now, what we would keep, and what would
 * end. Also returns their request, if there is one. Changes nothing.
 */
export async function readRefundRequest(deps: Deps, uuid: string, holding: Holding): Promise<Shown> {
  const standing = await standingFor(deps, 'readUpgrade', uuid, holding);
  return (await lookAt(deps, deps.database, uuid, { mayAsk: seesJoiner(holding, standing) })).shown;
}

/** Returns the data for the member's page, and the lines that a request would be for. */
async function lookAt(
  deps: Deps,
  database: Kysely<Tables>,
  uuid: string,
  { mayAsk }: { mayAsk: boolean },
): Promise<{ shown: Shown; asked: Asked }> {
  const { rows } = await sql<{
    paid_at: Date;
    intents: string[];
    asked_at: Date | null;
    amount_cents: number | null;
    declined_at: Date | null;
    sentence: string | null;
    is_open: boolean;
  }>`
    select paid_at, array(select intent_id from payment where session_uuid = uuid and status = 'succeeded') as intents,
      refund_request.created_at as asked_at, refund_request.amount_cents, declined_at, sentence, ${isOpenRequest} as is_open
    from join_session left join refund_request on session_uuid = uuid where uuid = ${uuid}`.execute(database);
  const { paid_at, intents, ...request } = rows[0]!;
  const { askDays, answerDays, gives } = deps.society.refunds;
  const orders = await paidOrders(deps, database, intents);
  const goods = (await parcelOf(database, deps.society, uuid))?.goods ?? [];
  const wasSent = (intentId: string, at: number) =>
    goods.some(({ intentId: id, line, state }) => id === intentId && line === at && state.is === 'sent');
  const plan = planRefund(orders, requestedWish(orders, gives, wasSent));
  const { ended } = await previewRefund(deps, database, orders, plan);
  const until = new Date(paid_at.getTime() + askDays * DAY_MS);
  const day = (at: Date) => dayOf(deps.society, at);
  const whyNot = whyNotAsked({
    mayAsk,
    isDeclined: request.declined_at !== null,
    isAsked: request.asked_at !== null,
    plan,
    isOver: until < deps.now(),
  });
  const shown = {
    whyNot,
    lines: plan.refunds.flatMap(({ lines }) => lines.map(({ name, cents }) => ({ name, amount: cents }))),
    total: plan.refunds.reduce((sum, { amountCents }) => sum + amountCents, 0),
    kept: keptLines(orders, plan),
    ends: ended.map(({ name }) => name),
    until: day(until),
    answerDays,
    // A request that was granted is not shown, because the refund itself is shown.
    request:
      request.asked_at && (request.is_open || request.declined_at)
        ? {
            at: day(request.asked_at),
            amount: request.amount_cents!,
            declined: request.declined_at && {
              at: day(request.declined_at),
              sentence: request.sentence!,
            },
          }
        : null,
  };
  return { shown, asked: askedIn(orders, plan) };
}

/**
 * Requests a refund of the amount that the member was shown (`total`, cents). Throws 409 if the amount is another by now. A
 * repeated request changes nothing.
 */
export async function requestRefund(
  deps: Deps,
  uuid: string,
  { holding, total }: { holding: Holding; total: number },
): Promise<Shown> {
  const standing = await standingFor(deps, 'readUpgrade', uuid, holding);
  if (!seesJoiner(holding, standing)) throw new Refusal(403, PROVE_FIRST);
  return transaction(deps, async (trx) => {
    await lockJoins(trx, [uuid]);
    const { shown, asked } = await lookAt(deps, trx, uuid, { mayAsk: true });
    if (shown.request && !shown.request.declined && shown.request.amount === total) return shown;
    if (shown.whyNot !== null) throw new Refusal(409, shown.whyNot);
    if (shown.total !== total)
      throw new Refusal(
        409,
        `What would come back has changed: it is ${displayPrice(shown.total)} now. Please look again.`,
      );
    await sql`
      with told as (
        insert into join_event (session_uuid, step, cause, detail)
        values (${uuid}, 'refund_asked', 'joiner', jsonb_build_object('cents', ${total}::int))
      )
      insert into refund_request (session_uuid, amount_cents, asked) values (${uuid}, ${total}, ${JSON.stringify(asked)}::jsonb)`.execute(
      trx,
    );
    await dueLetters(trx, deps, [{ kind: 'refund-asked', sessionUuid: uuid, occasion: 'asked' }]);
    return (await lookAt(deps, trx, uuid, { mayAsk: true })).shown;
  });
}

/**
 * Declines a request with a sentence, which the member gets by letter. Throws {@link Failed} if the sentence is blank or no
 * request is open.
 */
export async function declineRequest(deps: ByStaff<Deps>, uuid: string, sentence: string): Promise<void> {
  if (cleanText(sentence) === '') throw new Failed(SAY_WHY);
  await transaction(deps, async (trx) => {
    // A refund that is being decided holds the same lock. The request is therefore judged only after that refund.
    await lockJoins(trx, [uuid]);
    const { rows } = await sql`
      with declined as (
        update refund_request set declined_at = now(), declined_by = ${deps.actor}, sentence = ${sentence}
        where session_uuid = ${uuid} and ${isOpenRequest} returning session_uuid, amount_cents
      )
      insert into join_event (session_uuid, step, cause, detail)
      select session_uuid, 'refund_declined', 'staff', jsonb_build_object('cents', amount_cents) from declined
      returning session_uuid`.execute(trx);
    if (rows.length === 0) throw new Failed(NO_OPEN_REQUEST);
    await dueLetters(trx, deps, [
      { kind: 'refund-declined', sessionUuid: uuid, occasion: 'asked', data: { sentence } },
    ]);
  });
}
