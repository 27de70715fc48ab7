import { sql, type Transaction } from 'kysely';
import * as openid from 'openid-client';
import { accountRefusals, CHALLENGE_MINUTES } from '#core/staff.ts';
import type { DeskProvider } from '../platform/config/desk.ts';
import type { Database } from '../platform/database/client.ts';
import type { Tables } from '../platform/database/types.ts';
import { Refusal } from '../platform/http/refusal.ts';
import type { Deps } from './deps.ts';
import { type Staff, takeLink } from './links.ts';
import { hashOf } from './tokens.ts';

const PROVIDER_DOWN = 'The identity provider does not answer. Please try again in a minute.';

/** The path to which the provider redirects a browser after the sign-in. */
export const RETURN_PATH = '/enter/done';

/** The provider's configuration, which is fetched once. */
let known: { issuer: string; configuration: Promise<openid.Configuration> } | null = null;

async function configurationOf({
  issuer,
  clientId,
  clientSecret,
}: DeskProvider): Promise<openid.Configuration> {
  if (known?.issuer !== issuer) {
    const isLocal = issuer.startsWith('http:');
    const options = isLocal ? { execute: [openid.allowInsecureRequests] } : {};
    const configuration = openid.discovery(new URL(issuer), clientId, clientSecret, undefined, options);
    known = { issuer, configuration };
    configuration.catch(() => {
      known = null;
    });
  }
  try {
    return await known.configuration;
  } catch {
    throw new Refusal(503, PROVIDER_DOWN);
  }
}

/**
 * Begins a sign-in at the provider. Returns the URL to which the browser goes, and the state, which the browser keeps in a
 * cookie. `link` is the hash of the token of the sign-in link that led the person here; null without a link. Throws a {@link
 * Refusal} (503) if the provider does not answer.
 */
export async function beginTurn(
  database: Database,
  provider: DeskProvider,
  deskUrl: string,
  link: Buffer | null,
): Promise<{ url: string; state: string }> {
  const configuration = await configurationOf(provider);
  const [state, nonce, verifier] = [
    openid.randomState(),
    openid.randomNonce(),
    openid.randomPKCECodeVerifier(),
  ];
  await sql`
    with over as (delete from staff_turn where expires_at < now())
    insert into staff_turn (state_hash, nonce, verifier, link_hash, expires_at)
    values (${hashOf(state)}, ${nonce}, ${verifier}, ${link}, now() + make_interval(mins => ${CHALLENGE_MINUTES}))`.execute(
    database,
  );
  const url = openid.buildAuthorizationUrl(configuration, {
    redirect_uri: deskUrl + RETURN_PATH,
    scope: 'openid',
    state,
    nonce,
    code_challenge: await openid.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  });
  return { url: url.href, state };
}

/** An account at the provider that has just signed in. */
export interface Account {
  issuer: string;
  subject: string;
  /** The hash of the token of the sign-in link that led the person here; null without a link. */
  link: Buffer | null;
}

/**
 * Ends a sign-in: reads the account from the URL to which the provider has redirected the browser. The sign-in cannot be ended
 * twice. Throws a {@link Refusal} (403) if this browser did not begin it, or if it was not successful.
 */
export async function endTurn(
  { database, log }: Pick<Deps, 'database' | 'log'>,
  provider: DeskProvider,
  returned: URL,
  state: string | null,
): Promise<Account> {
  if (state === null || returned.searchParams.get('state') !== state)
    throw new Refusal(403, accountRefusals.late);
  const { rows } = await sql<{ nonce: string; verifier: string; link: Buffer | null }>`
    delete from staff_turn where state_hash = ${hashOf(state)} and expires_at > now()
    returning nonce, verifier, link_hash as link`.execute(database);
  const [turn] = rows;
  if (!turn) throw new Refusal(403, accountRefusals.late);
  const configuration = await configurationOf(provider);
  try {
    const tokens = await openid.authorizationCodeGrant(configuration, returned, {
      expectedState: state,
      expectedNonce: turn.nonce,
      pkceCodeVerifier: turn.verifier,
      idTokenExpected: true,
    });
    const { iss, sub } = tokens.claims()!;
    return { issuer: iss, subject: sub, link: turn.link };
  } catch (error) {
    if (error instanceof openid.AuthorizationResponseError && error.error === 'access_denied')
      throw new Refusal(403, accountRefusals.cancelled);
    log.warn({ reason: String(error) }, 'the identity provider’s answer was not accepted');
    throw new Refusal(403, accountRefusals.failed);
  }
}

/**
 * Returns the member of staff to whom an account belongs. If the person came by a sign-in link, the account is first bound to the
 * link's member of staff. Throws a {@link Refusal} (403) if the account belongs to nobody, or to another member of staff than the
 * link.
 */
export async function staffOfAccount(
  trx: Transaction<Tables>,
  { issuer, subject, link }: Account,
): Promise<Staff> {
  if (link !== null) {
    const staff = await takeLink(trx, link);
    const { rows } = await sql`
      insert into staff_identity (issuer, subject, staff_id, used_at) values (${issuer}, ${subject}, ${staff.id}, now())
      on conflict (issuer, subject) do update set used_at = now() where staff_identity.staff_id = excluded.staff_id
      returning staff_id`.execute(trx);
    if (rows.length === 0) throw new Refusal(403, accountRefusals.taken);
    return staff;
  }
  const { rows } = await sql<Staff>`
    update staff_identity set used_at = now() from staff
    where staff.id = staff_id and ended_at is null and issuer = ${issuer} and subject = ${subject}
    returning staff.id, name, role`.execute(trx);
  if (!rows[0]) throw new Refusal(403, accountRefusals.unknown);
  return rows[0];
}
