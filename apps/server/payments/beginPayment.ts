import { type RawBuilder, sql } from 'kysely';
import type { Data, ParsedBody } from '#contract/schemas.ts';
import type { HeldJoin, Holding } from '#core/holding.ts';
import { GUARDIAN_CONSENT_REQUIRED } from '#core/sentences.ts';
import type { Deps } from '../deps.ts';
import { alikeTo } from '../people/alike.ts';
import { countWithin } from '../platform/http/limits.ts';
import { Refusal } from '../platform/http/refusal.ts';
import { guardianConsentOf, keepGuardianConsent } from '../session/guardianConsent.ts';
import { isAmong } from '../session/holding.ts';
import { orderRefusal, refusedSale, type SaleRefusal } from '../session/members.ts';
import { hasLine } from '../session/orderLines.ts';
import { refusalFor } from '../session/standing.ts';
import { reopenFrozen, stateAllows, transitions } from '../session/states.ts';
import { tooManyDeclined } from './cardFailures.ts';
import { readOrder, totalChanged } from './readOrder.ts';
import { settlePaying, UNDER_WAY_SECONDS } from './settlePaying.ts';

const PAYING_ELSEWHERE =
  'A payment for this membership is under way in another window or on another device. Finish it there, or try again to pay here.';
/**
 * How often a join is held back by a payment in another join of its contact. Anybody who knows a personal code can begin such
 * payments again and again, so whoever presses Buy Now once more pays.
 */
const HELD_BACK = { count: 1, minutes: 15 };
const FORM_EXPIRED = 'This payment form has expired. Please enter your card again.';
const PERHAPS_PAID =
  'A membership for the same name and email has already been paid for in this browser. Is this one for somebody else?';
const AGREE_FIRST = 'You must agree to the policies.';

/**
 * Freezes the order at the revision on the screen until its payment succeeds, fails or is abandoned. Throws 409 if the order now
 * has another revision (the page then shows the new total first). Also throws 409 while Stripe has not answered an update of the
 * order's intent, because the intent must be for exactly the frozen revision.
 */
export async function beginPayment(
  deps: Deps,
  uuid: string,
  asked: ParsedBody<'beginPayment'> & { holding: Holding; joinsOfBrowser: readonly HeldJoin[] },
): Promise<Data<'beginPayment'>> {
  const { revision } = asked;
  const order = await readOrder(deps, uuid, asked.holding);
  if (order.pauseSeconds > 0) throw tooManyDeclined(order.pauseSeconds);
  if (order.revision !== revision) throw totalChanged(order.totalCents);
  if (!order.open) throw new Refusal(409, FORM_EXPIRED);
  if (order.open.revision !== revision) throw totalChanged(order.totalCents);
  const guardianConsent = guardianConsentOf(deps.society, order.identity.programme);
  const session = await freeze(deps, uuid, { ...asked, guardianConsent });
  if (!session) throw await refusalFor(deps, 'beginPayment', uuid, { holding: asked.holding });
  if (session.refusal) throw refusedSale(session.refusal);
  const errors = {
    ...(!session.has_agreed && { agreeToPolicies: AGREE_FIRST }),
    ...(!session.has_guardian_consent && { hasGuardianConsent: GUARDIAN_CONSENT_REQUIRED }),
  };
  const [missing] = Object.values(errors);
  if (missing) throw new Refusal(400, missing, { errors });
  if (session.asks) throw new Refusal(409, PERHAPS_PAID, { code: 'perhaps_paid' });
  if (!session.frozen) throw totalChanged(order.totalCents);
  return { revision, amount: order.totalCents };
}

/** `guardianConsent` is the sentence that asks for a guardian's consent; null if the programme does not ask. */
type Asked = Parameters<typeof beginPayment>[2] & { guardianConsent: string | null };

interface Frozen {
  /**
   * Whether another join of this browser has bought a membership for the same name and email. The page then asks whether this
   * joiner is another person.
   */
  asks: boolean;
  has_agreed: boolean;
  /** Whether guardian consent was given, or the programme does not ask for it. */
  has_guardian_consent: boolean;
  refusal: SaleRefusal | null;
  frozen: boolean;
}

/**
 * Freezes the order. Returns undefined if the session's state does not allow paying. Throws 409 if the same contact is paying in
 * another join: once, or while the bank is deciding there. After that the order of the other join is open again. Its payment is
 * not cancelled, or a stranger with the contact's code could cancel it; if both are paid, the second one goes back.
 */
async function freeze(deps: Deps, uuid: string, asked: Asked): Promise<Frozen | undefined> {
  try {
    return await tryToFreeze(deps, uuid, asked);
  } catch (error) {
    if ((error as { constraint?: string }).constraint !== 'join_session_one_paying') throw error;
    const { rows } = await sql<{ uuid: string; is_under_way: boolean }>`
      select other.uuid, other.paying_since > now() - make_interval(secs => ${UNDER_WAY_SECONDS}) as is_under_way
      from join_session other join join_session own using (person_id)
      where own.uuid = ${uuid} and other.state = 'paying' and other.uuid <> own.uuid`.execute(deps.database);
    const [other] = rows;
    if (other && (await settlePaying(deps, other.uuid, 'look')) === 'paying') {
      const isHeldBack =
        other.is_under_way && (await countWithin(deps.database, 'paying elsewhere', uuid, HELD_BACK));
      if (isHeldBack || !(await reopenFrozen(deps.database, mayGiveWay(other.uuid))))
        throw new Refusal(409, PAYING_ELSEWHERE);
    }
    return freeze(deps, uuid, asked);
  }
}

/** SQL for a join whose payment the bank is not deciding on at this moment. */
function mayGiveWay(uuid: string): RawBuilder<boolean> {
  return sql<boolean>`(uuid = ${uuid} and not exists (
    select from payment where session_uuid = ${uuid} and kind = 'join' and payment.status = 'open' and seen_status = 'processing'))`;
}

async function tryToFreeze(
  deps: Deps,
  uuid: string,
  { revision, agreeToPolicies, hasGuardianConsent, guardianConsent, isForAnother, joinsOfBrowser }: Asked,
): Promise<Frozen | undefined> {
  const { rows } = await sql<Frozen>`
    with session as (
      select uuid, has_agreed_to_policies or ${agreeToPolicies} as has_agreed,
        guardian_consent is not null or ${guardianConsent === null || hasGuardianConsent} as has_guardian_consent,
        ${orderRefusal('join_session')} as refusal,
        not ${isForAnother} and ${hasLine({ type: 'membership' })} and exists (
          select from join_session paid join membership held on held.session_uuid = paid.uuid and held.is_held
          where ${isAmong(joinsOfBrowser)} and paid.uuid <> join_session.uuid and held.type = 'membership'
            and paid.person_id in ${alikeTo(sql`join_session.person_id`)}
        ) as asks
      from join_session where uuid = ${uuid} and ${stateAllows('beginPayment')} for update
    ), frozen as (
      update join_session set ${transitions.freeze}, has_agreed_to_policies = true, ${keepGuardianConsent(guardianConsent)}
      from session where join_session.uuid = session.uuid and revision = ${revision} and intent_changing_since is null
        and has_agreed and has_guardian_consent and refusal is null and not asks
      returning join_session.uuid
    )
    select has_agreed, has_guardian_consent, refusal, asks, exists (select from frozen) as frozen from session`.execute(
    deps.database,
  );
  return rows[0];
}
