import { sql } from 'kysely';
import { deliver } from './deliver.ts';
import { askHubspot } from './providers.ts';
import { chargeOf } from './refunds.ts';
import { details, payByCard, reportPayment } from './steps.ts';
import { postPdf } from './uploads.ts';
import { type Choices, EMAILS, type Join, type Walk } from './walk.ts';

/** Returns the uuid of a donation or store item in the catalogue. */
const uuidOfItem = (productId: number) => `0b6f2f0e-58f1-4d38-9a4e-3f5a9f1f00${productId}`;
const intents = '/v1/payment_intents**';
const stripeFaults: [object, ...object[]] = [
  { kind: 'status', path: intents },
  { kind: 'status_after', path: intents },
  { kind: 'cut_after', path: intents },
  { kind: 'status', path: '/v1/refunds', times: 2 },
  { kind: 'status_after', path: '/v1/refunds', method: 'POST' },
  { kind: 'cut_after', path: '/v1/refunds', method: 'POST' },
];
const hubspotFaults: [object, ...object[]] = [
  { kind: 'status', status: 503, times: 2 },
  { kind: 'status_after' },
  { kind: 'cut_after' },
];

/**
 * The steps of a walk, each with its weight. A step of weight 6 is chosen three times as often as one of weight 2. A step that is
 * not possible yet does nothing.
 */
export const steps = {
  'join by a school': [6, joinBySchool],
  'nominate oneself': [2, nominate],
  'join by an invite code': [6, joinByCode],
  'follow a link to Checkout': [4, followLink],
  'go on with a join': [2, goOn],
  'pay on a page that was left open': [1, payLate],
  'buy the upgrade': [5, buyUpgrade],
  'staff refund a join': [4, refundJoin],
  'staff refund a payment': [1, refundPayment],
  'staff say what a refund was for': [1, assignRefund],
  'staff join two persons': [4, mergePersons],
  'staff undo that': [2, unmergePersons],
  'staff correct a person': [2, correctPerson],
  'staff reject a transcript': [2, rejectTranscript],
  'staff merge contacts in HubSpot': [4, mergeContacts],
  'staff refund in the dashboard': [4, refundInDashboard],
  'a bank opens a dispute': [2, openDispute],
  'a bank closes a dispute': [2, closeDispute],
  'a bank turns an inquiry into a dispute': [1, escalateInquiry],
  'a bank returns a refund': [2, returnRefund],
  'banks answer refunds otherwise': [2, changeRefundAnswer],
  'the server works in the background': [3, (walk) => walk.workInBackground()],
  'HubSpot is told': [6, ({ server }) => deliver(server)],
  'Stripe fails': [1, ({ server }, choices) => server.stripeFault(choices.of(stripeFaults))],
  'HubSpot fails': [1, ({ server }, choices) => server.hubspotFault(choices.of(hubspotFaults))],
} satisfies Record<string, [often: number, step: (walk: Walk, choices: Choices) => Promise<unknown>]>;

export type StepName = keyof typeof steps;

/** The names of all steps, each listed as often as its weight says. */
export const stepNames = (Object.keys(steps) as StepName[]).flatMap((name) =>
  Array<StepName>(steps[name][0]).fill(name),
);

/** Steps that may run concurrently with any other step. */
export const besides = [
  'buy the upgrade',
  'the server works in the background',
  'HubSpot is told',
  'go on with a join',
  'staff refund in the dashboard',
  'follow a link to Checkout',
  'join by an invite code',
] as const satisfies StepName[];

async function joinBySchool(walk: Walk, choices: Choices): Promise<void> {
  const client = choices.of(walk.browsers)!;
  const { data } = await client.call('initiateSchoolJoin', { body: { invitationCode: 'LINCOLN2026' } });
  await submit(walk, choices, { client, uuid: data.uuid, isInvited: false }, choices.of([1, 1, 2]));
}

async function nominate(walk: Walk, choices: Choices): Promise<void> {
  const client = choices.of(walk.browsers)!;
  const body = { hasConfirmedEligibility: true, isTOLA: false };
  const { data } = await client.call('initiateSelfNomination', { body });
  await submit(walk, choices, { client, uuid: data.uuid, isInvited: false }, 3);
}

async function joinByCode(walk: Walk, choices: Choices): Promise<void> {
  const invited = choices.of(walk.invited);
  if (!invited) return;
  const client = choices.of(walk.browsers)!;
  const { code: invitationCode, email } = invited;
  const { contactId } = (await client.call('checkEligibility', { body: { invitationCode } })).data ?? {};
  if (!contactId) return;
  const body = { contactId, invitationCode, isTOLA: true, startOver: choices.inTenths(5) };
  const { data } = await client.call('initiateJoin', { body });
  const own = choices.inTenths(3) ? undefined : email;
  if (data)
    await submit(walk, choices, { client, uuid: data.uuid, isInvited: true }, choices.of([1, 1, 2]), own);
}

async function followLink(walk: Walk, choices: Choices): Promise<void> {
  const contact = choices.of(await walk.contacts());
  if (!contact) return;
  const client = choices.of(walk.browsers)!;
  const body = { hubspotContactId: contact.id, mainProductId: choices.of([10, 1]) };
  const { data } = await client.call('initiateCheckout', { body });
  if (!data) return;
  const join = { client, uuid: data.joinSessionUuid, isInvited: true };
  walk.joins.push(join);
  await order(walk, choices, join);
}

async function goOn(walk: Walk, choices: Choices): Promise<void> {
  const join = choices.of(walk.joins);
  if (join) await order(walk, choices, join);
}

/**
 * Submits student details with one of the walk's names and emails, and chooses a membership. Then adds items to the order and, in
 * most cases, pays.
 */
async function submit(
  walk: Walk,
  choices: Choices,
  join: Join,
  membershipId: number,
  personalEmail: string = choices.inTenths(4) ? EMAILS[1] : EMAILS[0],
): Promise<void> {
  walk.joins.push(join);
  const params = { uuid: join.uuid };
  const person = { personalEmail, firstName: choices.of(['Ada', 'Ada', 'Ben']), lastName: 'Walker' };
  await join.client.call('submitDetails', { params, body: details(person) });
  await join.client.call('setMembership', { params, body: { membershipId } });
  await order(walk, choices, join);
}

async function order(walk: Walk, choices: Choices, join: Join): Promise<void> {
  const params = { uuid: join.uuid };
  const how = choices.of([
    'and comes back',
    'and comes back',
    'and comes back',
    'and leaves',
    'not yet',
    'declined',
    'no more',
  ] as const);
  for (const item of [20, 30, 31])
    if (choices.inTenths(2))
      await join.client.call('setSessionProduct', { params, body: { productUuid: uuidOfItem(item) } });
  if (how === 'no more' || !(await openForm(join)) || how === 'not yet') return;
  const intent = join.intent!;
  if (how === 'declined') await payByCard(walk.server, intent.id, 'pm_card_visa_chargeDeclined');
  else await payByCard(walk.server, intent.id);
  if (how === 'and comes back') await reportPayment(join.client, join.uuid, intent);
}

/** Opens the payment form and presses Buy Now. Returns whether the server allowed that. */
async function openForm(join: Join): Promise<boolean> {
  const { client } = join;
  const params = { uuid: join.uuid };
  const checkout = await client.call('getCheckoutDetails', { params });
  if (!checkout.data) return false;
  const amount = Math.round(checkout.data.products.reduce((sum, { price }) => sum + Number(price), 0) * 100);
  const asked = { amount, currency: 'usd', billingEmail: 'walker@example.com' };
  const { data } = await client.call('createPaymentIntent', { params, body: asked });
  if (!data) return false;
  const { clientSecret, revision } = data;
  join.intent = { id: clientSecret.split('_secret_')[0]!, clientSecret };
  const body = { revision, agreeToPolicies: true, isForAnother: true };
  return (await client.call('beginPayment', { params, body })).status === 200;
}

async function payLate({ server, joins }: Walk, choices: Choices): Promise<void> {
  const intent = choices.of(joins)?.intent;
  if (intent) await payByCard(server, intent.id);
}

async function buyUpgrade({ joins }: Walk, choices: Choices): Promise<void> {
  const join = choices.of(joins);
  const body = { paymentIntent: join?.intent?.id };
  if (join?.intent) await join.client.call('createUpgradeCharge', { params: { uuid: join.uuid }, body });
}

async function refundJoin(walk: Walk, choices: Choices): Promise<void> {
  const join = choices.of(walk.joins);
  const upgrade = choices.inTenths(5) ? ' --upgrade' : '';
  const ineligible = choices.inTenths(3) ? ' --ineligible' : '';
  const kept = choices.inTenths(2) ? ' --no-membership' : '';
  const items = choices.of(['', '', ' --items all', ' --items 30', ' --items 20,30']);
  if (join) await walk.staffRun(`refund ${join.uuid}${upgrade}${ineligible}${kept}${items}`);
}

async function refundPayment(walk: Walk, choices: Choices): Promise<void> {
  const payment = choices.of(await walk.payments());
  if (payment) await walk.staffRun(`refund ${payment.id}`);
}

async function assignRefund(walk: Walk, choices: Choices): Promise<void> {
  const { rows } = await sql<{ uuid: string }>`
    select uuid from refund where reason = 'dashboard' order by created_at`.execute(walk.database);
  const refund = choices.of(rows);
  const purpose = choices.of([
    '--none',
    '--membership',
    '--upgrade',
    '--items 30',
    '--membership --items 30,31',
  ]);
  if (refund) await walk.staffRun(`refund assign ${refund.uuid} ${purpose}`);
}

async function mergePersons(walk: Walk, choices: Choices): Promise<void> {
  const join = choices.of(walk.joins);
  const other = choices.inTenths(4) ? choices.of(walk.joins)?.uuid : choices.of(await walk.contacts())?.id;
  if (join && other) await walk.staffRun(`person merge ${join.uuid} ${other}`);
}

async function unmergePersons(walk: Walk, choices: Choices): Promise<void> {
  const join = choices.of(walk.joins);
  if (join) await walk.staffRun(`person unmerge ${join.uuid}`);
}

async function correctPerson(walk: Walk, choices: Choices): Promise<void> {
  const join = choices.of(walk.joins);
  const change = choices.of([
    `--email ${EMAILS[0]}`,
    `--email ${EMAILS[1]}`,
    '--first-name Ben',
    '--city Waco',
  ]);
  if (join) await walk.staffRun(`person correct ${join.uuid} ${change}`);
}

async function rejectTranscript(walk: Walk, choices: Choices): Promise<void> {
  const join = choices.of(walk.joins);
  if (!join) return;
  await postPdf(join.client, `/api/public/join-session/${join.uuid}/upload-transcript`);
  const final = choices.inTenths(2) ? '' : ' --final';
  await walk.staffRun(`documents reject ${join.uuid} --reason below-requirement${final}`);
}

async function mergeContacts(walk: Walk, choices: Choices): Promise<void> {
  const all = await walk.contacts();
  const one = choices.of(all);
  const other = choices.of(all.filter((contact) => contact !== one));
  if (!one || !other) return;
  const body = { primaryObjectId: one.id, objectIdToMerge: other.id };
  const { id } = await askHubspot(walk.server.hubspotUrl, 'POST', '/merge', body);
  walk.note(`${one.id} and ${other.id} are merged into ${id}`);
  if (!choices.inTenths(3)) await walk.server.deps.contacts.refresh(id);
}

async function refundInDashboard(walk: Walk, choices: Choices): Promise<void> {
  const payment = choices.of(await walk.payments());
  if (!payment) return;
  const amount = choices.of([payment.cents, 6500, 1200, 1000, 8900, 4500, 9000, 500, 2000, 7700]);
  const form = { payment_intent: payment.id, amount: String(amount) };
  const { status } = await walk.server.stripe('POST', '/v1/refunds', form);
  walk.note(`${amount} of ${payment.id} in the dashboard: ${status}`);
}

async function openDispute(walk: Walk, choices: Choices): Promise<void> {
  const payment = choices.of(await walk.payments());
  const charge = payment && (await chargeOf(walk.server, payment.id));
  const amount = choices.of([undefined, undefined, undefined, 6500, 1200, 4500]);
  const isInquiry = choices.inTenths(2);
  if (charge) await walk.server.stripeControl('disputes', { charge, ...(amount && { amount }), isInquiry });
}

async function closeDispute(walk: Walk, choices: Choices): Promise<void> {
  const disputes = await walk.listAtStripe('disputes');
  const dispute = choices.of(disputes.filter(({ status }) => status.endsWith('needs_response')));
  const outcome = dispute?.status.startsWith('warning') ? 'warning_closed' : choices.of(['won', 'lost']);
  if (dispute) await walk.server.stripeControl(`disputes/${dispute.id}/close`, { status: outcome });
}

async function escalateInquiry(walk: Walk, choices: Choices): Promise<void> {
  const disputes = await walk.listAtStripe('disputes');
  const inquiry = choices.of(disputes.filter(({ status }) => status === 'warning_needs_response'));
  if (inquiry) await walk.server.stripeControl(`disputes/${inquiry.id}/escalate`, {});
}

async function returnRefund(walk: Walk, choices: Choices): Promise<void> {
  const refunds = await walk.listAtStripe('refunds');
  const refund = choices.of(refunds.filter(({ status }) => status === 'succeeded' || status === 'pending'));
  if (refund) await walk.server.stripeControl(`refunds/${refund.id}/settle`, { status: 'failed' });
}

async function changeRefundAnswer({ server }: Walk, choices: Choices): Promise<void> {
  await server.stripeControl('refunds', {
    answer: choices.of(['refused', 'refused', 'pending', 'succeeded']),
  });
}
