import { type Kysely, sql } from 'kysely';
import { forgottenNotes, forgottenPayer } from '#core/intentText.ts';
import type { Tables } from '../../platform/database/types.ts';
import { ProviderRefused } from '../../providers/stripe/failures.ts';
import type { Deps } from '../deps.ts';

/** An object at Stripe with a person's data: an intent with the person in its metadata, or a customer. */
export interface AtStripe {
  kind: 'intent' | 'customer';
  id: string;
}

async function ofJoins(database: Kysely<Tables>, joins: readonly string[]): Promise<AtStripe[]> {
  const { rows } = await sql<AtStripe>`
    select 'intent' as kind, intent_id as id from payment where session_uuid = any(${joins}::uuid[])
    union select 'customer', customer_id from payment where session_uuid = any(${joins}::uuid[]) and customer_id <> ''
    order by kind desc, id`.execute(database);
  return rows;
}

function forget({ payments }: Pick<Deps, 'payments'>, { kind, id }: AtStripe): Promise<void> {
  return kind === 'intent' ? payments.writeNotes(id, forgottenNotes()) : payments.deleteCustomer(id);
}

/**
 * Deletes the customers of these joins at Stripe, and removes the personal data from the metadata of their intents. Returns these
 * customers and intents.
 */
export async function forgetAtStripe(
  deps: Pick<Deps, 'database' | 'payments'>,
  joins: readonly string[],
): Promise<AtStripe[]> {
  const all = await ofJoins(deps.database, joins);
  for (const one of all) await forget(deps, one);
  return all;
}

/**
 * Removes the payer's data from the metadata of intents that somebody with one of these emails opened by a pay link, for another
 * person's join.
 */
export async function forgetPayerAtStripe(
  { database, payments }: Pick<Deps, 'database' | 'payments'>,
  emails: readonly string[],
): Promise<void> {
  const { rows } = await sql<{ id: string }>`
    select intent_id as id from payment where by_pay_link and lower(receipt_email) = any(${emails}::text[])`.execute(
    database,
  );
  for (const { id } of rows) await payments.writeNotes(id, forgottenPayer());
}

/**
 * Records which objects of these joins Stripe still has to erase, in the transaction that removes the joins. Leaves out the
 * objects in `told`, which Stripe has erased already. {@link removeAtStripe} asks Stripe later.
 */
export async function dueAtStripe(
  trx: Kysely<Tables>,
  joins: readonly string[],
  told: readonly AtStripe[] = [],
): Promise<void> {
  const all = await ofJoins(trx, joins);
  const due = all.filter(({ id }) => told.every((other) => other.id !== id));
  if (due.length === 0) return;
  await trx
    .insertInto('forget_at_stripe')
    .values(due.map(({ kind, id }) => ({ kind, stripe_id: id })))
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/**
 * Asks Stripe to erase all recorded objects. Safe to repeat: an object that Stripe does not erase stays recorded. If Stripe
 * refuses single objects, throws the first refusal after handling all objects. Throws any other failure immediately.
 */
export async function removeAtStripe(deps: Pick<Deps, 'database' | 'payments'>): Promise<void> {
  const rows = await deps.database
    .selectFrom('forget_at_stripe')
    .select(['kind', 'stripe_id as id'])
    .orderBy('stripe_id')
    .execute();
  let refusal: ProviderRefused | null = null;
  for (const one of rows) {
    try {
      await forget(deps, one);
    } catch (error) {
      if (!(error instanceof ProviderRefused)) throw error;
      refusal ??= error;
      continue;
    }
    await deps.database.deleteFrom('forget_at_stripe').where('stripe_id', '=', one.id).execute();
  }
  if (refusal) throw refusal;
}
