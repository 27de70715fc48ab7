import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import { MEMBER } from '#core/crmFields.ts';
import { listContacts, listStripe } from './providers.ts';
import type { StandIns } from './standIns.ts';

/** Waits until HubSpot has received or refused the data of every join, but at most `patienceMs`. */
export async function untilSent(database: pg.Client, patienceMs: number): Promise<void> {
  const deadline = performance.now() + patienceMs;
  for (;;) {
    const { rowCount } = await database.query(
      'select from crm_delivery where due_at is not null and refusal is null limit 1',
    );
    if (rowCount === 0 || performance.now() > deadline) return;
    await pause(1000);
  }
}

/**
 * Compares Stripe's payments with ours, and our members with HubSpot's. Returns a line for each payment (intent id and cents) and
 * each member (contact id) that only one of the two sides has. The result is meaningful only if HubSpot knows the contact of
 * every join and nothing was refunded.
 */
export async function disagreements(
  database: pg.Client,
  { stripeUrl, hubspotUrl }: Pick<StandIns, 'stripeUrl' | 'hubspotUrl'>,
): Promise<{ lines: string[]; members: number }> {
  interface Intent {
    id: string;
    status: string;
    amount_received: number;
  }
  const intents = await listStripe<Intent>(stripeUrl, 'payment_intents');
  const charged = intents
    .filter(({ status }) => status === 'succeeded')
    .map((intent) => `${intent.id} ${intent.amount_received}`);
  const contacts = await listContacts(hubspotUrl, ['membership_status']);
  const told = contacts
    .filter(({ properties }) => properties.membership_status === MEMBER)
    .map(({ id }) => id);
  const found = async (query: string) =>
    (await database.query<{ found: string }>(query)).rows.map((row) => row.found);
  const payments = await found(
    "select intent_id || ' ' || amount_cents as found from payment where status = 'succeeded'",
  );
  const members = await found(
    `select contact_id as found from membership join join_session on join_session.uuid = session_uuid
     join person on person.id = join_session.person_id
     where type = 'membership' and is_held and state = 'paid'`,
  );
  return {
    lines: [
      ...without(charged, payments).map((intent) => `${intent} is only at Stripe`),
      ...without(payments, charged).map((intent) => `${intent} is not at Stripe`),
      ...without(members, told).map((contact) => `HubSpot does not know that ${contact} is a member`),
      ...without(told, members).map((contact) => `HubSpot takes ${contact} for a member`),
    ],
    members: members.length,
  };
}

function without(all: readonly string[], those: readonly string[]): string[] {
  const excluded = new Set(those);
  return all.filter((each) => !excluded.has(each));
}
