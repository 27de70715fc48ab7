import { sql } from 'kysely';
import type { Data } from '#contract/schemas.ts';
import type { Deps } from '../deps.ts';
import { Refusal } from '../http/refusal.ts';
import { stateAllows, whyNot } from '../join/standing.ts';
import { orderRefusal, refusedSale, type SaleRefusal } from '../session/isMemberNow.ts';
import { tooManyDeclined } from './cardFailures.ts';
import { orderOf, totalChanged } from './createPaymentIntent.ts';
import { settlePaying } from './settlePaying.ts';

const PAYING_ELSEWHERE =
  'A payment for this membership is under way in another window or on another device. Finish it there, or wait a moment and try again.';
const FORM_EXPIRED = 'This payment form has expired. Please enter your card again.';
const AGREE_FIRST = 'You must agree to the policies.';

/**
 * Freezes the order at the revision on the screen until its payment succeeds, fails or is abandoned. Stripe's intent is
 * for exactly that revision: a change of it that has not been answered lets nobody begin. Another revision is 409: the
 * page shows the new total first.
 */
export async function beginPayment(
  deps: Deps,
  uuid: string,
  { revision, agreeToPolicies }: { revision: number; agreeToPolicies: boolean },
): Promise<Data<'beginPayment'>> {
  const order = await orderOf(deps, uuid);
  if (order.pauseSeconds > 0) throw tooManyDeclined(order.pauseSeconds);
  if (order.revision !== revision) throw totalChanged(order.totalCents);
  if (!order.open) throw new Refusal(409, FORM_EXPIRED);
  if (order.open.revision !== revision) throw totalChanged(order.totalCents);
  if (order.changingMs !== null) throw totalChanged(order.totalCents);
  const session = await freeze(deps, uuid, { revision, agreeToPolicies });
  if (!session) throw await whyNot(deps, 'beginPayment', uuid);
  if (session.refusal) throw refusedSale(session.refusal);
  if (!session.has_agreed) throw new Refusal(400, AGREE_FIRST, { errors: { agreeToPolicies: AGREE_FIRST } });
  if (!session.frozen) throw totalChanged(order.totalCents);
  return { revision, amount: order.totalCents };
}

interface Frozen {
  has_agreed: boolean;
  refusal: SaleRefusal | null;
  frozen: boolean;
}

/** Undefined when the session is not in a state to be paid. One contact pays in one place at a time. */
async function freeze(
  deps: Deps,
  uuid: string,
  { revision, agreeToPolicies }: { revision: number; agreeToPolicies: boolean },
  isSecondTry = false,
): Promise<Frozen | undefined> {
  try {
    return await tryToFreeze(deps, uuid, revision, agreeToPolicies);
  } catch (error) {
    if ((error as { constraint?: string }).constraint !== 'join_session_one_paying') throw error;
    const { rows } = await sql<{ uuid: string }>`
      select other.uuid from join_session other join join_session own using (contact_id)
      where own.uuid = ${uuid} and other.state = 'paying' and other.uuid <> own.uuid`.execute(deps.database);
    // A payment that was begun there and left does not stand in the way here.
    const other = rows[0] ? await settlePaying(deps, rows[0].uuid, 'change') : 'ordering';
    if (other === 'paying' || isSecondTry) throw new Refusal(409, PAYING_ELSEWHERE);
    return freeze(deps, uuid, { revision, agreeToPolicies }, true);
  }
}

async function tryToFreeze(
  deps: Deps,
  uuid: string,
  revision: number,
  agreeToPolicies: boolean,
): Promise<Frozen | undefined> {
  const { rows } = await sql<Frozen>`
    with session as (
      select uuid, has_agreed_to_policies or ${agreeToPolicies} as has_agreed, ${orderRefusal('join_session.contact_id')} as refusal
      from join_session where uuid = ${uuid} and ${stateAllows('beginPayment')} for update
    ), frozen as (
      update join_session set state = 'paying', paying_since = now(), has_agreed_to_policies = true, updated_at = now()
      from session where join_session.uuid = session.uuid and revision = ${revision} and intent_changing_since is null and has_agreed and refusal is null
      returning join_session.uuid
    )
    select has_agreed, refusal, exists (select from frozen) as frozen from session`.execute(deps.database);
  return rows[0];
}
