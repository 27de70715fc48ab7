import { sql } from 'kysely';
import type { Data } from '#contract/schemas.ts';
import { statesAllowing } from '#core/joinSession.ts';
import type { Deps } from '../deps.ts';
import { Refusal } from '../http/refusal.ts';
import { whyNot } from '../join/standing.ts';
import { ALREADY_MEMBER } from '../membership/alreadyMember.ts';
import { UnexpectedState } from '../stripe/provider.ts';
import { confirmPayment } from './confirmPayment.ts';
import { orderOf, totalChanged, updateOpenIntent } from './createPaymentIntent.ts';

const AGREE_FIRST = 'You must agree to the policies.';

/**
 * Freezes the order at the revision on the screen until its payment succeeds, fails or is abandoned, and makes sure
 * that Stripe's intent is for exactly that revision. Another revision is 409: the page shows the new total first.
 */
export async function beginPayment(
  deps: Deps,
  uuid: string,
  { revision, agreeToPolicies }: { revision: number; agreeToPolicies: boolean },
): Promise<Data<'beginPayment'>> {
  const order = await orderOf(deps, uuid);
  if (order.revision !== revision || !order.open || order.open.revision !== revision)
    throw totalChanged(order.totalCents);
  const { rows } = await sql<{ has_agreed: boolean; is_member: boolean; frozen: boolean }>`
    with session as (
      select uuid, has_agreed_to_policies or ${agreeToPolicies} as has_agreed, exists (
        select from membership held join session_product line on line.session_uuid = join_session.uuid and line.removed_at is null and line.type = held.type
        where held.contact_id = join_session.contact_id and held.standing = 'active'
      ) as is_member
      from join_session where uuid = ${uuid} and state = any(${statesAllowing('beginPayment')}) for update
    ), frozen as (
      update join_session set state = 'paying', paying_since = now(), has_agreed_to_policies = true, updated_at = now()
      from session where join_session.uuid = session.uuid and revision = ${revision} and has_agreed and not is_member
      returning join_session.uuid
    )
    select has_agreed, is_member, exists (select from frozen) as frozen from session`.execute(deps.database);
  const session = rows[0];
  if (!session) throw await whyNot(deps, 'beginPayment', uuid);
  if (session.is_member) throw new Refusal(409, ALREADY_MEMBER);
  if (!session.has_agreed) throw new Refusal(400, AGREE_FIRST, { errors: { agreeToPolicies: AGREE_FIRST } });
  if (!session.frozen) throw totalChanged(order.totalCents);
  try {
    await updateOpenIntent(deps, uuid, order, order.open.intentId, order.email);
  } catch (error) {
    if (!(error instanceof UnexpectedState)) throw error;
    await confirmPayment(deps, order.open.intentId);
    throw await whyNot(deps, 'changeOrder', uuid);
  }
  return { revision, amount: order.totalCents };
}
