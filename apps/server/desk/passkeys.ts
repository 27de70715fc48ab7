import {
  type AuthenticationResponseJSON,
  generateAuthenticationOptions,
  generateRegistrationOptions,
  type PublicKeyCredentialCreationOptionsJSON,
  type PublicKeyCredentialRequestOptionsJSON,
  type RegistrationResponseJSON,
  verifyAuthenticationResponse,
  verifyRegistrationResponse,
} from '@simplewebauthn/server';
import { sql, type Transaction } from 'kysely';
import { CHALLENGE_MINUTES } from '#core/staff.ts';
import type { Database } from '../platform/database/client.ts';
import type { Tables } from '../platform/database/types.ts';
import { DatabaseUnavailable } from '../platform/database/unavailable.ts';
import { Refusal } from '../platform/http/refusal.ts';
import type { Staff } from './links.ts';

export const PASSKEY_REFUSED = 'This passkey was not accepted. Try again.';

/** The site for which passkeys are created and used. */
export interface Site {
  /** The origin of the desk. */
  deskUrl: string;
  societyName: string;
}

/** Returns the options with which a browser creates a passkey for a member of staff. They may already have other passkeys. */
export async function registrationOptions(
  database: Database,
  { deskUrl, societyName }: Site,
  { id, name }: Staff,
): Promise<PublicKeyCredentialCreationOptionsJSON> {
  const { rows } = await sql<{ id: string; transports: never[] }>`
    select id, transports from staff_passkey where staff_id = ${id}`.execute(database);
  const options = await generateRegistrationOptions({
    rpName: societyName,
    rpID: new URL(deskUrl).hostname,
    userID: new TextEncoder().encode(`staff ${id}`),
    userName: name,
    excludeCredentials: rows,
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
  });
  await keepChallenge(database, options.challenge, id);
  return options;
}

/** Returns the options with which a browser signs in by any of its passkeys for the desk. */
export async function authenticationOptions(
  database: Database,
  { deskUrl }: Site,
): Promise<PublicKeyCredentialRequestOptionsJSON> {
  const options = await generateAuthenticationOptions({
    rpID: new URL(deskUrl).hostname,
    userVerification: 'required',
  });
  await keepChallenge(database, options.challenge, null);
  return options;
}

/**
 * Stores the passkey that a browser has created. Throws a {@link Refusal} (403) if the passkey did not sign a challenge for this
 * member of staff.
 */
export async function storePasskey(
  trx: Transaction<Tables>,
  { deskUrl }: Site,
  { id }: Staff,
  response: RegistrationResponseJSON,
): Promise<void> {
  const { verified, registrationInfo } = await accepted(() =>
    verifyRegistrationResponse({
      response,
      expectedChallenge: (challenge) => takeChallenge(trx, challenge, id),
      expectedOrigin: deskUrl,
      expectedRPID: new URL(deskUrl).hostname,
    }),
  );
  if (!verified) throw new Refusal(403, PASSKEY_REFUSED);
  const { credential } = registrationInfo;
  await sql`
    insert into staff_passkey (id, staff_id, public_key, counter, transports)
    values (${credential.id}, ${id}, ${Buffer.from(credential.publicKey)}, ${credential.counter}, ${credential.transports ?? []})`.execute(
    trx,
  );
}

/**
 * Returns the member of staff whose passkey has signed a challenge. Throws a {@link Refusal} (403) if no passkey of ours has, or
 * if the access of its holder has ended.
 */
export async function staffOfPasskey(
  trx: Transaction<Tables>,
  { deskUrl }: Site,
  response: AuthenticationResponseJSON,
): Promise<Staff> {
  const { rows } = await sql<Staff & { publicKey: Buffer; counter: string; transports: never[] }>`
    select staff.id, name, role, public_key as "publicKey", counter, transports
    from staff_passkey join staff on staff.id = staff_id
    where staff_passkey.id = ${response.id} and ended_at is null for update of staff_passkey`.execute(trx);
  const [found] = rows;
  if (!found) throw new Refusal(403, PASSKEY_REFUSED);
  const { verified, authenticationInfo } = await accepted(() =>
    verifyAuthenticationResponse({
      response,
      expectedChallenge: (challenge) => takeChallenge(trx, challenge, null),
      expectedOrigin: deskUrl,
      expectedRPID: new URL(deskUrl).hostname,
      credential: {
        id: response.id,
        publicKey: new Uint8Array(found.publicKey),
        counter: Number(found.counter),
        transports: found.transports,
      },
    }),
  );
  if (!verified) throw new Refusal(403, PASSKEY_REFUSED);
  await sql`
    update staff_passkey set counter = ${authenticationInfo.newCounter}, used_at = now() where id = ${response.id}`.execute(
    trx,
  );
  return { id: found.id, name: found.name, role: found.role };
}

/** Turns the library's errors into a refusal: the library throws for every fault of a response. */
async function accepted<T>(verify: () => Promise<T>): Promise<T> {
  try {
    return await verify();
  } catch (error) {
    if (error instanceof DatabaseUnavailable) throw error;
    throw new Refusal(403, PASSKEY_REFUSED);
  }
}

async function keepChallenge(database: Database, challenge: string, staffId: string | null): Promise<void> {
  await sql`
    with over as (delete from staff_challenge where expires_at < now())
    insert into staff_challenge (challenge, staff_id, expires_at)
    values (${challenge}, ${staffId}, now() + make_interval(mins => ${CHALLENGE_MINUTES}))`.execute(database);
}

/**
 * Deletes a challenge, so that it is used only once. Returns whether it was valid and made for this member of staff (null: for a
 * sign-in).
 */
async function takeChallenge(
  trx: Transaction<Tables>,
  challenge: string,
  staffId: string | null,
): Promise<boolean> {
  const { rows } = await sql`
    delete from staff_challenge
    where challenge = ${challenge} and staff_id is not distinct from ${staffId}::bigint and expires_at > now()
    returning challenge`.execute(trx);
  return rows.length > 0;
}
