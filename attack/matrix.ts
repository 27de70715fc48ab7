import assert from 'node:assert/strict';
import { sql } from 'kysely';
import { pathOf } from '#contract/calls.ts';
import { pushDue } from '../apps/server/contacts/push.ts';
import { bringAllMemberships } from '../apps/server/contacts/bringMemberships.ts';
import { confirmPayment } from '../apps/server/payments/confirmPayment.ts';
import { NotErasable } from '../apps/server/privacy/eraseJoins.ts';
import { erasePerson } from '../apps/server/privacy/erasePerson.ts';
import { findPerson } from '../apps/server/privacy/findPerson.ts';
import { StoppedErasing } from '../apps/server/privacy/stoppedErasing.ts';
import { rejectFinally } from '../apps/server/documents/rejectFinally.ts';
import { followPayment } from '../apps/server/refunds/followPayment.ts';
import { giveBack } from '../apps/server/refunds/giveBack.ts';
import { NotRefundable, refundJoin } from '../apps/server/refunds/refundJoin.ts';
import { refundPayment } from '../apps/server/settlement/refundPayment.ts';
import { reconcile } from '../apps/server/settlement/reconcile.ts';
import { settleJoin } from '../apps/server/settlement/settle.ts';
import { sweepPayments, sweepRefunds } from '../apps/server/settlement/sweep.ts';
import { askHubspot } from '../tests/harness/providers.ts';
import { chargeOf, everything, membershipOnly } from '../tests/harness/refunds.ts';
import { beginPayment, openIntent, paidJoin, payByCard } from '../tests/harness/steps.ts';
import type { Client, TestServer } from '../tests/harness/testServer.ts';
import { charge, idOf } from '../tests/harness/upgrades.ts';
import { postPdf } from '../tests/harness/uploads.ts';

export interface Ctx { client: Client; uuid: string; intentId: string; email: string; contactId: string; code: string; others: string[] }
let count = 0;

export async function arrange(server: TestServer, kind: 'invited' | 'school' = 'invited'): Promise<Ctx> {
  const n = `${Date.now()}${count++}`;
  const email = `person${n}@example.com`;
  const client = server.client();
  let contactId = '';
  let code = 'LINCOLN2026';
  if (kind === 'invited') {
    ({ id: contactId } = await askHubspot(server.hubspotUrl, 'POST', '', { properties: { email, firstname: 'Jo', lastname: 'Unikum' } }));
    await server.deps.contacts.refresh(contactId);
    code = `M${n}`.slice(-18);
    await server.deps.database.insertInto('invitation').values({ code, contact_id: contactId }).execute();
  }
  const paid = await paidJoin(server, client, code, { personalEmail: email, lastName: `Unikum${n}` });
  await push(server);
  if (kind === 'school') {
    const row = await server.deps.database.selectFrom('join_session').select('hubspot_contact_id').where('uuid', '=', paid.uuid).executeTakeFirstOrThrow();
    contactId = row.hubspot_contact_id!;
  }
  return { client, ...paid, email, contactId, code, others: [] };
}
export async function push(server: TestServer) {
  for (let i = 0; i < 20 && (await pushDue(server.deps, server.hubspot)).taken > 0; i++);
}
const quiet = (...kinds: (new (...args: never[]) => Error)[]) => (error: unknown) => {
  if (kinds.some((kind) => error instanceof kind)) return null;
  throw error;
};
type Op = (server: TestServer, ctx: Ctx) => Promise<unknown>;
export const ops: Record<string, Op> = {
  charge: (_, { client, uuid, intentId }) => charge(client, uuid, intentId),
  otherCard: async (server, { client, uuid, intentId }) => {
    const answer = await charge(client, uuid, intentId, { charge: false });
    const secret = answer.data?.clientSecret;
    if (!secret) return answer;
    await payByCard(server, idOf(secret));
    await confirmPayment(server.deps, idOf(secret));
    return answer;
  },
  skip: (_, { client, uuid }) => client.call('skipUpgrade', { params: { uuid } }),
  refundAll: (server, { uuid }) => refundJoin(server.deps, uuid, everything).catch(quiet(NotRefundable)),
  refundMembership: (server, { uuid }) => refundJoin(server.deps, uuid, membershipOnly).catch(quiet(NotRefundable)),
  refundPi: (server, { intentId }) => refundPayment(server.deps, intentId).catch(quiet(NotRefundable)),
  dashboard: async (server, { intentId }) => {
    await server.stripe('POST', '/v1/refunds', { payment_intent: intentId });
    await followPayment(server.deps, intentId);
  },
  dispute: async (server, { intentId }) => {
    const { id } = await server.stripeControl('disputes', { charge: await chargeOf(server, intentId) }).catch(() => ({ id: '' }));
    if (id === '') return;
    await followPayment(server.deps, intentId);
    await server.stripeControl(`disputes/${id}/close`, { status: 'lost' });
    await followPayment(server.deps, intentId);
  },
  erase: async (server, { email }) => erasePerson(server.deps, await findPerson(server.deps, email)).catch(quiet(StoppedErasing, NotErasable)),
  reject: async (server, { uuid, client }) => {
    await postPdf(client, pathOf('uploadTranscript', { uuid }));
    const found = await rejectFinally(server.deps, uuid, 'below-requirement').catch(quiet(NotRefundable));
    for (const { intentId } of found?.plan.refunds ?? []) await giveBack(server.deps, intentId);
  },
  linkUpgrade: async (server, ctx) => {
    const client = server.client();
    const answer = await client.call('initiateCheckout', { body: { hubspotContactId: ctx.contactId, mainProductId: 10 } });
    if (answer.status !== 200) return answer;
    const uuid = answer.data.joinSessionUuid;
    ctx.others.push(uuid);
    const intent = await openIntent(client, uuid).catch(() => null);
    if (!intent) return null;
    const begun = await client.call('beginPayment', { params: { uuid }, body: { revision: intent.revision, agreeToPolicies: true } });
    if (begun.status !== 200) return begun;
    await payByCard(server, intent.id);
    await confirmPayment(server.deps, intent.id);
    return begun;
  },
  joinAgain: async (server, ctx) => {
    const client = server.client();
    const answer = await client.call('initiateCheckout', { body: { hubspotContactId: ctx.contactId, mainProductId: 1 } });
    if (answer.status !== 200) return answer;
    const uuid = answer.data.joinSessionUuid;
    ctx.others.push(uuid);
    const intent = await openIntent(client, uuid).catch(() => null);
    if (!intent) return null;
    const begun = await client.call('beginPayment', { params: { uuid }, body: { revision: intent.revision, agreeToPolicies: true } });
    if (begun.status !== 200) return begun;
    await payByCard(server, intent.id);
    await confirmPayment(server.deps, intent.id);
    return begun;
  },
  merge: async (server, ctx) => {
    const { id: other } = await askHubspot(server.hubspotUrl, 'POST', '', { properties: { email: `other${count++}.${ctx.email}` } });
    const { id } = await askHubspot(server.hubspotUrl, 'POST', '/merge', { primaryObjectId: ctx.contactId, objectIdToMerge: other });
    await server.deps.contacts.refresh(ctx.contactId);
    ctx.contactId = id;
  },
  push: (server) => push(server),
  sweep: async (server) => { await sweepRefunds(server.deps); await sweepPayments(server.deps); },
  settle: (server, { uuid }) => settleJoin(server.deps, uuid),
  link: async (server, ctx) => {
    const { linkJoin, NotLinkable } = await import('../apps/server/contacts/linkJoin.ts');
    const { takeBack } = await import('../apps/server/contacts/takeBack.ts');
    const { tellingHubspotNothing } = await import('../apps/server/contacts/fence.ts');
    const { id } = await askHubspot(server.hubspotUrl, 'POST', '', { properties: { email: `l${count++}.${ctx.email}` } });
    const left = await tellingHubspotNothing(server.background, async () => {
      const was = await linkJoin(server.deps, ctx.uuid, id);
      if (was) await takeBack(server.deps, server.hubspot, was);
      return true;
    }).catch(quiet(NotLinkable));
    if (left) ctx.contactId = id;
  },
  bring: (server) => bringAllMemberships(server.deps.database),
  follow: async (server, { intentId }) => { await followPayment(server.deps, intentId); await giveBack(server.deps, intentId); },
};

/** Something happens right before the n-th step (statement outside transactions, beginning of a transaction, call of Stripe). */
export async function beforeStep(server: TestServer, place: number, happens: () => Promise<unknown>, does: () => Promise<unknown>): Promise<boolean> {
  const { deps } = server;
  const executor = deps.database.getExecutor();
  const execute = executor.executeQuery.bind(executor);
  let steps = 0; let busy = false;
  const step = async () => {
    if (busy) return;
    if (++steps !== place) return;
    busy = true;
    try { await happens(); } finally { busy = false; }
  };
  executor.executeQuery = async (query: never) => { await step(); return execute(query) as never; };
  const transaction = deps.database.transaction.bind(deps.database);
  (deps.database as any).transaction = (...given: []) => {
    const builder = transaction(...given);
    const run = builder.execute.bind(builder);
    (builder as any).execute = async (work: never) => { await step(); return run(work); };
    return builder;
  };
  const real: Record<string, unknown> = {};
  const { payments } = deps as any;
  for (const name of ['createCustomer', 'createIntent', 'updateIntent', 'retrieveIntent', 'confirmWithSavedCard', 'cancelIntent', 'refund', 'moneyBack', 'deleteCustomer', 'forgetNotes']) {
    real[name] = payments[name];
    const asks = payments[name].bind(payments);
    payments[name] = async (...given: unknown[]) => { await step(); return asks(...given); };
  }
  try { await does(); } finally {
    executor.executeQuery = execute as never;
    delete (deps.database as any).transaction;
    Object.assign(payments, real);
  }
  return steps >= place;
}

/** After everything has calmed down, what is wrong. */
export async function faultsOf(server: TestServer, ctx: Ctx): Promise<string[]> {
  const { database } = server.deps;
  const faults: string[] = [];
  const uuids = [ctx.uuid, ...ctx.others];
  const pays = await database.selectFrom('payment').selectAll().where('session_uuid', 'in', uuids).execute();
  for (const { intent_id } of pays) await followPayment(server.deps, intent_id);
  await database.updateTable('refund').set({ next_try_at: sql`now()` }).where('status', '=', 'due').execute();
  await sweepRefunds(server.deps);
  await push(server);
  const listed = ((await server.stripe('GET', '/v1/payment_intents?limit=100')).body as any).data.filter((one: any) => uuids.includes(one.metadata.session));
  for (const intent of listed) {
    const row = await database.selectFrom('payment').selectAll().where('intent_id', '=', intent.id).executeTakeFirst();
    if (intent.status === 'succeeded') {
      const refunds = ((await server.stripe('GET', `/v1/refunds?payment_intent=${intent.id}&limit=100`)).body as any).data.filter((r: any) => r.status !== 'failed');
      const back = refunds.reduce((s: number, r: any) => s + r.amount, 0);
      const disputed = ((await server.stripe('GET', `/v1/disputes?payment_intent=${intent.id}`)).body as any).data?.some((d: any) => d.status === 'lost');
      const membership = await database.selectFrom('membership').selectAll().where('payment_intent', '=', intent.id).executeTakeFirst();
      if (!row) faults.push(`${intent.id} of ${intent.amount} has no row`);
      else if (row.status === 'duplicate') { if (back !== intent.amount && !disputed) faults.push(`duplicate kept ${intent.amount - back}`); }
      else if (row.status !== 'succeeded') faults.push(`${intent.id} is ${row.status}`);
      else if (!membership) faults.push('no membership');
      else if (membership.is_held && back > 0) faults.push(`held though ${back} went back`);
      else if (!membership.is_held && back === 0 && !disputed) faults.push(`ended (${membership.standing}) though nothing went back`);
      const tells = JSON.stringify(intent.metadata);
      const erased = await database.selectFrom('join_session').select('erased_at').where('uuid', '=', intent.metadata.session).executeTakeFirst();
      if ((!erased || erased.erased_at) && /Unikum/.test(tells)) {
        await (await import('../apps/server/privacy/atStripe.ts')).tellStripe(server.deps);
        const again = (await server.stripe('GET', `/v1/payment_intents/${intent.id}`)).body as any;
        if (/Unikum/.test(JSON.stringify(again.metadata))) faults.push(`Stripe still knows who was erased: ${intent.id}`);
      }
    }
  }
  const { differences } = await reconcile(server.deps, { graceMinutes: -1 });
  const known = new Set([...uuids, ...listed.map(({ id }: { id: string }) => id)]);
  for (const { kind, subject } of differences) if (known.has(subject)) faults.push(`reconcile: ${kind}`);
  // HubSpot's word
  const erased = await database.selectFrom('join_session').select(['erased_at']).where('uuid', '=', ctx.uuid).executeTakeFirst();
  if (ctx.contactId && erased && !erased.erased_at) {
    const now = await askHubspot(server.hubspotUrl, 'GET', `/${ctx.contactId}?properties=membership_status,amount_paid,upgrade_name`).catch(() => null);
    const held = await database.selectFrom('membership').innerJoin('join_session', 'uuid', 'session_uuid').select(['membership.id', 'type']).where('session_uuid', 'in', uuids).where('is_held', '=', true).execute();
    const isMember = held.some(({ type }) => type === 'membership');
    const kept = await sql<{ cents: number }>`select coalesce(sum(amount_cents - refunded_cents - coalesce((select sum(amount_cents) from refund where refund.intent_id = payment.intent_id and is_dispute and refund.status = 'succeeded'), 0)), 0)::int as cents from payment where session_uuid = any(${uuids}::uuid[]) and status = 'succeeded'`.execute(database);
    if (now) {
      const { membership_status, amount_paid, upgrade_name } = now.properties;
      if ((membership_status === 'member') !== isMember) faults.push(`HubSpot says ${membership_status}, held: ${isMember}`);
      if (Math.round(Number(amount_paid ?? 0) * 100) !== kept.rows[0]!.cents) faults.push(`HubSpot says ${amount_paid}, kept: ${kept.rows[0]!.cents}`);
      if (Boolean(upgrade_name) !== held.some(({ type }) => type === 'membership_upgrade')) faults.push(`HubSpot says upgrade ${upgrade_name}, held: ${JSON.stringify(held)}`);
    }
    const mirrored = await sql<{ is_member: boolean }>`select is_member from contact where id = ${ctx.contactId}`.execute(database);
    if (mirrored.rows[0]?.is_member && !isMember) faults.push('the mirror says member');
  } else if (erased === undefined || erased.erased_at) {
    // whatever is left
    for (const table of ['join_session', 'payment', 'contact', 'letter', 'staff_notice', 'refund', 'order_snapshot', 'document', 'join_event', 'event_retry', 'membership']) {
      const { rows } = await sql<{ text: string }>`select to_jsonb(${sql.table(table)})::text as text from ${sql.table(table)}`.execute(database);
      for (const { text } of rows) if (text.includes(ctx.email)) faults.push(`${table} has ${text.slice(0, 300)}`);
    }
  }
  return faults;
}
