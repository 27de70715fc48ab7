import { type RawBuilder, sql } from 'kysely';
import { type Holding, isOpenIn, type JoinAccess } from '#core/holding.ts';
import { type JoinSessionState, refusal, type SessionAction, screenToGoOn } from '#core/joinSession.ts';
import { OPENED_ELSEWHERE } from '#core/pass.ts';
import { UPGRADE_WINDOW_MINUTES } from '#core/specified.ts';
import { Refusal, sessionNotFound } from '../platform/http/refusal.ts';
import type { CatalogueProduct } from '../society/society.ts';
import type { Deps } from './deps.ts';
import { hasEnded, holdsBought } from './members.ts';
import { isProof } from './proof.ts';

/** The standing of a join: everything that decides its next screen. */
export interface JoinStanding extends JoinAccess {
  programme: string;
  paymentIntent: string | null;
  /** Whether somebody else paid, by a pay link. */
  byPayLink: boolean;
  /**
   * The upgrade that is still offered. Null in each of these cases: no upgrade is on sale; the joiner has already skipped or
   * bought the upgrade, or holds one; the join is not paid, or the time for the offer is over; the membership is not active; the
   * joiner paid with a card that was not saved.
   */
  upgrade: CatalogueProduct | null;
  hasTranscript: boolean;
  /** Whether a self-nomination still has to upload a transcript: it has none, and its membership has not ended. */
  owesTranscript: boolean;
  isSelfNomination: boolean;
  goOn: string;
}

export async function readStanding(deps: Deps, uuid: string): Promise<JoinStanding | null> {
  const { rows } = await sql<{
    state: JoinSessionState;
    programme: string;
    origin: string;
    upgrade: string;
    upsell_product_id: number | null;
    in_window: boolean;
    paid: { intentId: string; byPayLink: boolean; savesCard: boolean } | null;
    membership_id: number | null;
    has_transcript: boolean;
    has_ended: boolean;
    owns_upgrade: boolean;
    is_proven: boolean;
  }>`
    select state, programme, origin, upgrade, upsell_product_id,
      coalesce(paid_at > now() - make_interval(mins => ${UPGRADE_WINDOW_MINUTES}), false) as in_window,
      (select json_build_object('intentId', intent_id, 'byPayLink', by_pay_link, 'savesCard', saves_card is not false)
        from payment where session_uuid = s.uuid and kind = 'join' and status = 'succeeded' limit 1) as paid,
      (select product_id from membership where session_uuid = s.uuid and standing = 'active' and payment_intent in
        (select intent_id from payment where session_uuid = s.uuid and kind = 'join') limit 1) as membership_id,
      exists (select from document where session_uuid = s.uuid and (${isProof} or is_final)) as has_transcript,
      ${hasEnded('s.uuid')} as has_ended,
      ${holdsBought('s.person_id', 'membership_upgrade')} as owns_upgrade,
      proven_at is not null as is_proven
    from join_session s where uuid = ${uuid} and erased_at is null`.execute(deps.database);
  const row = rows[0];
  if (!row) return null;
  const upgrade =
    row.upgrade === 'open' &&
    row.in_window &&
    (row.paid?.savesCard || row.paid?.byPayLink) &&
    !row.owns_upgrade
      ? upgradeOffer(deps, row.membership_id, row.upsell_product_id)
      : null;
  const isSelfNomination = row.origin === 'self_nomination';
  const owesTranscript = isSelfNomination && !row.has_transcript && !row.has_ended;
  return {
    state: row.state,
    programme: row.programme,
    origin: row.origin,
    paymentIntent: row.paid?.intentId ?? null,
    byPayLink: row.paid?.byPayLink ?? false,
    upgrade,
    hasTranscript: row.has_transcript,
    owesTranscript,
    isSelfNomination,
    isProven: row.is_proven,
    goOn: screenToGoOn({
      state: row.state,
      paymentIntent: row.paid?.intentId ?? null,
      upgradeOpen: upgrade !== null,
      owesTranscript,
    }),
  };
}

/**
 * Returns the upgrade to offer with a bought membership: the upgrade of the join's link (`usp`), otherwise that of the catalogue.
 */
export function upgradeOffer(
  deps: Pick<Deps, 'society'>,
  membershipId: number | null,
  upsellId: number | null,
): CatalogueProduct | null {
  const bought = membershipId === null ? undefined : deps.society.product(membershipId);
  if (bought?.type !== 'membership') return null;
  const id = upsellId ?? bought.upgrade;
  return (id === undefined ? undefined : deps.society.offer({ id })) ?? null;
}

/** SQL for the columns of {@link JoinAccess}; `session` is the query's name for `join_session`. */
export function accessOf(session: string): RawBuilder<JoinAccess> {
  const column = (name: string) => sql.ref(`${session}.${name}`);
  return sql`${column('state')}, ${column('origin')}, ${column('proven_at')} is not null as "isProven"`;
}

/**
 * Returns `row`, the data that were read of a join, if this browser may continue the join and its state allows the action. Throws
 * a Refusal otherwise. `holding` is null if the caller needs no browser, such as somebody who pays by a pay link.
 */
export async function admitted<Row extends JoinAccess>(
  deps: Deps,
  action: SessionAction,
  { uuid, holding }: { uuid: string; holding: Holding | null },
  row: Row | null | undefined,
): Promise<Row> {
  if (row && (holding === null || isOpenIn(holding, row)) && refusal(action, row.state) === null) return row;
  throw await refusalFor(deps, action, uuid, { holding });
}

/** Returns the standing of a join that this browser may continue. Throws unless its state allows the action. */
export async function standingFor(
  deps: Deps,
  action: SessionAction,
  uuid: string,
  holding: Holding,
): Promise<JoinStanding> {
  return admitted(deps, action, { uuid, holding }, await readStanding(deps, uuid));
}

const CHANGED_MEANWHILE = 'Your registration has changed in the meantime. Please try again.';

/**
 * Returns the refusal for an action whose SQL statement changed nothing: the session does not exist, or its state does not allow
 * the action. `otherwise` is the message if the state allows the action by now. `holding` is how the browser holds the join; if
 * it is given, a browser that may not continue the join gets 404.
 */
export async function refusalFor(
  deps: Deps,
  action: SessionAction,
  uuid: string,
  { otherwise = CHANGED_MEANWHILE, holding }: { otherwise?: string; holding?: Holding | null } = {},
): Promise<Refusal> {
  const standing = await readStanding(deps, uuid);
  if (!standing) return sessionNotFound();
  if (holding && !isOpenIn(holding, standing)) return new Refusal(404, OPENED_ELSEWHERE);
  const message = refusal(action, standing.state);
  if (message === null) return new Refusal(409, otherwise, { goOn: standing.goOn });
  return new Refusal(409, message, { goOn: standing.goOn });
}
