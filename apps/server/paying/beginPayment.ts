import { type RawBuilder, sql } from 'kysely';
import type { Data, ParsedBody } from '#contract/schemas.ts';
import { type HeldJoin, type Holding, isHeldIn } from '#core/holding.ts';
import type { OpenLine } from '#core/orderLine.ts';
import {
  answerToSecond,
  type Holdings,
  orderRefusal,
  type Purchase,
  type Relation,
  type SaleRefusal,
} from '#core/people.ts';
import { GUARDIAN_CONSENT_REQUIRED } from '#core/sentences.ts';
import { countWithin } from '../platform/http/limits.ts';
import { Refusal } from '../platform/http/refusal.ts';
import { alikeTo, isProven } from '../session/alike.ts';
import { guardianConsentOf, keepGuardianConsent } from '../session/guardianConsent.ts';
import { joinerHoldings, refusedSale } from '../session/members.ts';
import { refusalFor } from '../session/standing.ts';
import { reopenFrozen, stateAllows, transitions } from '../session/states.ts';
import { tooManyDeclined } from './cardFailures.ts';
import type { Deps } from './deps.ts';
import { beingPaid, readOrder, totalChanged } from './readOrder.ts';
import { settlePaying, UNDER_WAY_SECONDS } from './settlePaying.ts';

/** Shown at Buy Now while the same person is paying in another join. */
export const PAYING_ELSEWHERE =
  'A payment for this membership is in progress in another window or on another device. Finish it there, or try again to pay here.';
/**
 * How often a join must wait for a payment that was just begun in another join of the same person. Anybody who knows a personal
 * code can begin such payments again and again. Therefore only the first press of Buy Now within this time (minutes) has to wait.
 */
const HELD_BACK = { count: 1, minutes: 15 };
const FORM_EXPIRED = 'This payment form has expired. Please enter your card again.';
const perhapsPaid = (first: Purchase) =>
  `A membership for the same name and email ${first === 'paying' ? 'is being' : 'has already been'} paid for in this browser. Is this one for someone else?`;
export const AGREE_FIRST = 'You must agree to the policies.';

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
  if (order.open?.byPayLink && order.state === 'paying') throw beingPaid();
  if (!order.open || order.open.byPayLink) throw new Refusal(409, FORM_EXPIRED);
  if (order.open.revision !== revision) throw totalChanged(order.totalCents);
  const guardianConsent = guardianConsentOf(deps.society, order.identity.programme);
  const { refusal, beside } = await readPerson(deps, uuid, asked);
  const isHeldBack = refusal !== null || beside !== null;
  const { intentId } = order.open;
  const session = await freeze(deps, uuid, { ...asked, intentId, guardianConsent, isHeldBack });
  if (!session) throw await refusalFor(deps, 'beginPayment', uuid, { holding: asked.holding });
  if (refusal) throw refusedSale(refusal);
  const errors = {
    ...(!session.has_agreed && { agreeToPolicies: AGREE_FIRST }),
    ...(!session.has_guardian_consent && { hasGuardianConsent: GUARDIAN_CONSENT_REQUIRED }),
  };
  const [missing] = Object.values(errors);
  if (missing) throw new Refusal(400, missing, { errors });
  if (beside) throw new Refusal(409, perhapsPaid(beside), { code: 'perhaps_paid' });
  if (!session.frozen) throw totalChanged(order.totalCents);
  return { revision, amount: order.totalCents };
}

/**
 * `intentId`: the intent that is to be paid. `guardianConsent` is the sentence that asks for a guardian's consent; null if the programme
 * does not ask. With `isHeldBack` nothing is frozen.
 */
type Asked = Pick<ParsedBody<'beginPayment'>, 'revision' | 'agreeToPolicies' | 'hasGuardianConsent'> & {
  intentId: string;
  guardianConsent: string | null;
  isHeldBack: boolean;
};

interface Frozen {
  has_agreed: boolean;
  /** Whether guardian consent was given, or the programme does not ask for it. */
  has_guardian_consent: boolean;
  frozen: boolean;
}

interface Beside {
  uuid: string;
  /** Whether somebody has proven that they are the joiner of this other join. */
  hasProof: boolean;
  relation: Relation;
  isProven: boolean;
  isSecondProven: boolean;
  is: Purchase;
}

/**
 * Returns why the order may not be sold to the joiner (`refusal`). Also returns the stage of a membership purchase in another
 * join of this browser (`beside`), if the joiner must first confirm that they are another person ({@link answerToSecond}). Null
 * for each that does not apply.
 */
async function readPerson(
  { database }: Deps,
  uuid: string,
  { isForAnother, joinsOfBrowser }: Parameters<typeof beginPayment>[2],
): Promise<{ refusal: SaleRefusal | null; beside: Purchase | null }> {
  const { rows } = await sql<{ lines: OpenLine[]; holdings: Holdings; beside: Beside[] }>`
    select lines, ${joinerHoldings('own')} as holdings, coalesce((
      select json_agg(json_build_object('uuid', other.uuid, 'hasProof', other.proven_at is not null,
        'relation', case when other.person_id = own.person_id then 'same' else 'likely same' end,
        'isProven', ${isProven('other')}, 'isSecondProven', ${isProven('own')},
        'is', case when bought.id is null then 'paying' when bought.standing = 'active' then 'paid'
          when bought.standing = 'disputed' then 'disputed' else 'refunded' end))
      from join_session as other left join membership bought on bought.session_uuid = other.uuid and bought.type = 'membership'
      where other.uuid = any(${joinsOfBrowser.map((join) => join.uuid)}::uuid[]) and other.uuid <> own.uuid and other.person_id in ${alikeTo(sql`own.person_id`)}
        and (bought.id is not null or other.paying_since is not null)), '[]') as beside
    from join_session own where uuid = ${uuid}`.execute(database);
  const [own] = rows;
  if (!own) return { refusal: null, beside: null };
  const asks = ({ relation, isProven, isSecondProven, is }: Beside) =>
    answerToSecond({
      relation,
      first: { isProven, is },
      second: { isProven: isSecondProven },
      inSameBrowser: true,
    }) === 'ask';
  const isHeld = ({ uuid: other, hasProof }: Beside) =>
    joinsOfBrowser.some((held) => held.uuid === other && isHeldIn(held, { isProven: hasProof }));
  const isAsked = !isForAnother && own.lines.some(({ type }) => type === 'membership');
  return {
    refusal: orderRefusal(own.lines, own.holdings),
    beside: (isAsked && own.beside.find((other) => isHeld(other) && asks(other))?.is) || null,
  };
}

/**
 * Freezes the order. Returns undefined if the session's state does not allow paying. Freezes nothing if the intent has been
 * cancelled meanwhile, for example because somebody pays by the join's pay link. If the same person is paying in another join,
 * throws 409 the first time ({@link HELD_BACK}) if that payment was begun just now ({@link UNDER_WAY_SECONDS}), and always while
 * the bank is deciding there. Otherwise the other join's order becomes open again. Its payment is not cancelled, or a stranger
 * with the person's code could cancel it; if both are paid, the second payment is refunded.
 */
export async function freeze(deps: Deps, uuid: string, asked: Asked): Promise<Frozen | undefined> {
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

/** SQL for whether the row of `join_session` is this join, and the bank was not deciding on its payment at the last look. */
function mayGiveWay(uuid: string): RawBuilder<boolean> {
  return sql<boolean>`(uuid = ${uuid} and not exists (
    select from payment where session_uuid = ${uuid} and kind = 'join' and payment.status = 'open' and seen_status = 'processing'))`;
}

async function tryToFreeze(
  deps: Deps,
  uuid: string,
  { revision, intentId, agreeToPolicies, hasGuardianConsent, guardianConsent, isHeldBack }: Asked,
): Promise<Frozen | undefined> {
  const { rows } = await sql<Frozen>`
    with session as (
      select uuid, has_agreed_to_policies or ${agreeToPolicies} as has_agreed,
        guardian_consent is not null or ${guardianConsent === null || hasGuardianConsent} as has_guardian_consent
      from join_session where uuid = ${uuid} and ${stateAllows('beginPayment')} for update
    ), frozen as (
      update join_session set ${transitions.freeze}, has_agreed_to_policies = true, ${keepGuardianConsent(guardianConsent)}
      from session where join_session.uuid = session.uuid and revision = ${revision} and intent_changing_since is null
        and has_agreed and has_guardian_consent and not ${isHeldBack}
        and exists (select from payment where intent_id = ${intentId} and status = 'open')
      returning join_session.uuid
    )
    select has_agreed, has_guardian_consent, exists (select from frozen) as frozen from session`.execute(
    deps.database,
  );
  return rows[0];
}
