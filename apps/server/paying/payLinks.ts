import { createHash, randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import type { Data } from '#contract/schemas.ts';
import { type Holding, isOpenIn } from '#core/holding.ts';
import { payPath } from '#core/navigation.ts';
import { PAY_LINK_DAYS, PAY_LINK_OVER } from '#core/payLink.ts';
import { Refusal } from '../platform/http/refusal.ts';
import { firstName, lastName } from '../session/person.ts';
import { readStanding, refusalFor } from '../session/standing.ts';
import { stateAllows } from '../session/states.ts';
import { AGREE_FIRST } from './beginPayment.ts';
import type { Deps } from './deps.ts';
import { settlePaying } from './settlePaying.ts';

const TOKEN_BYTES = 16;

/**
 * Makes the link with which a joiner asks somebody else to pay, for {@link PAY_LINK_DAYS} days. It replaces an earlier link of
 * the join. Only the token's hash is stored, so a copy of the database contains no valid link. The joiner has to agree to the
 * policies first, because the payer cannot do this for them.
 */
export async function createPayLink(
  deps: Deps,
  uuid: string,
  { holding, agreeToPolicies }: { holding: Holding; agreeToPolicies: boolean },
): Promise<Data<'createPayLink'>> {
  await openFor(deps, uuid, holding);
  const token = randomBytes(TOKEN_BYTES).toString('base64url');
  const { rows } = await sql<{ has_agreed: boolean; expires_at: Date | null }>`
    with forgotten as (delete from pay_link where expires_at < now() and session_uuid <> ${uuid}),
    session as (
      select uuid, has_agreed_to_policies or ${agreeToPolicies} as has_agreed from join_session
      where uuid = ${uuid} and ${stateAllows('createPaymentIntent')} for update
    ), agreed as (
      update join_session set has_agreed_to_policies = true from session
      where join_session.uuid = session.uuid and has_agreed and not has_agreed_to_policies
    ), made as (
      insert into pay_link (session_uuid, token_hash, expires_at)
      select uuid, ${hashOf(token)}, now() + make_interval(days => ${PAY_LINK_DAYS}) from session where has_agreed
      on conflict (session_uuid) do update set token_hash = excluded.token_hash, expires_at = excluded.expires_at, created_at = now()
      returning expires_at
    )
    select has_agreed, (select expires_at from made) from session`.execute(deps.database);
  const [made] = rows;
  if (!made) throw await refusalFor(deps, 'createPaymentIntent', uuid, { holding });
  if (!made.expires_at) throw new Refusal(400, AGREE_FIRST, { errors: { agreeToPolicies: AGREE_FIRST } });
  return { path: payPath(token), expiresAt: made.expires_at.toISOString() };
}

/** Ends the join's pay link. A payment that has begun by it continues. */
export async function endPayLink(deps: Deps, uuid: string, holding: Holding): Promise<void> {
  await openFor(deps, uuid, holding);
  await deps.database.deleteFrom('pay_link').where('session_uuid', '=', uuid).execute();
}

/**
 * Returns the status of a join's pay link, for the joiner's page, which polls. Cancels an abandoned payment by the link, so that
 * the joiner can pay.
 */
export async function readPayLink(deps: Deps, uuid: string, holding: Holding): Promise<Data<'getPayLink'>> {
  let found = await read();
  if (found.isBeingPaid && (await settlePaying(deps, uuid, 'change')) !== 'paying') found = await read();
  return found;

  async function read() {
    const { state, goOn } = await openFor(deps, uuid, holding);
    const { rows } = await sql<{ expires_at: Date | null; is_open: boolean }>`
      select (select expires_at from pay_link where session_uuid = ${uuid} and expires_at > now()),
        exists (select from payment where session_uuid = ${uuid} and kind = 'join' and status = 'open' and by_pay_link) as is_open`.execute(
      deps.database,
    );
    const { expires_at, is_open } = rows[0]!;
    const isBeingPaid = state === 'paying' && is_open;
    return { expiresAt: expires_at?.toISOString() ?? null, isBeingPaid, state, goOn };
  }
}

/** Returns the standing of a join, whatever its state. Throws unless this browser may continue the join. */
async function openFor(deps: Deps, uuid: string, holding: Holding) {
  const standing = await readStanding(deps, uuid);
  if (standing && isOpenIn(holding, standing)) return standing;
  throw await refusalFor(deps, 'createPaymentIntent', uuid, { holding });
}

/** The join that a pay link leads to. The joiner's names are null if unknown. */
export interface LinkedJoin {
  uuid: string;
  isPaid: boolean;
  programme: string;
  firstName: string | null;
  lastName: string | null;
  expiresAt: Date;
}

/** Returns the join of a pay link. Expired, ended and unknown links are refused with the same sentence. */
export async function joinOfPayLink({ database }: Deps, token: string): Promise<LinkedJoin> {
  const { rows } = await sql<LinkedJoin>`
    select session.uuid, state = 'paid' as "isPaid", programme, ${firstName} as "firstName", ${lastName} as "lastName", expires_at as "expiresAt"
    from pay_link join join_session session on session.uuid = session_uuid left join person on person.id = person_id
    where token_hash = ${hashOf(token)} and expires_at > now() and session.erased_at is null`.execute(
    database,
  );
  if (!rows[0]) throw new Refusal(404, PAY_LINK_OVER);
  return rows[0];
}

/** Plain SHA-256 is safe, because the token is random and too long to be guessed. */
function hashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
