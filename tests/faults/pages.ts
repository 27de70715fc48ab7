import { setTimeout as pause } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { CallName } from '#contract/calls.ts';
import type { Data } from '#contract/schemas.ts';
import { fromPrice } from '#core/money.ts';
import { summarise } from '#core/orderSummary.ts';
import { PAYING_ELSEWHERE } from '../../apps/server/paying/beginPayment.ts';
import { STRIPE_PUBLISHABLE_KEY } from '../../emulators/keys.ts';
import { details } from '../harness/steps.ts';
import type { Answered } from '../harness/testServer.ts';
import { Browser, PATIENCE_MS, PRESSES, press } from './browser.ts';
import type { Person, Run, Screen, Seen } from './person.ts';
import type { CardTry, Join, Processing } from './plan.ts';
import { codeOf, contactIdOf, emailOf, identityOf, payerEmailOf, SCHOOL_CODE, type World } from './world.ts';

// These functions stand for the pages of the web app (apps/web/screens). Each makes the calls that its page makes to the server and
// to Stripe, and returns what a joiner would see.

const PAGE_TIMEOUT_MS = 900;
/** How long (ms) a payment stays undecided if the plan says that the bank decides it `soon` (plan.ts). */
const HELD_MS = 700;
const PRODUCT_UUID = '0b6f2f0e-58f1-4d38-9a4e-3f5a9f1f00';
const productUuid = (id: number) => PRODUCT_UUID + String(id).padStart(2, '0');

/** Checkout shows an order, redirects to another screen, or shows a message that says why it cannot show the order. */
export type Look = { screen: Screen } | { goOn: string } | { message: string };
type Outcome = 'paid' | 'changed' | 'refused' | 'waiting' | 'left';

export async function start(tab: Browser, join: Join): Promise<string> {
  const isTOLA = !join.undergraduate;
  switch (join.start) {
    case 'invite': {
      const invitationCode = codeOf(join.contact!);
      const { contactId } = (await press(tab, 'checkEligibility', { body: { invitationCode, isTOLA } })).data;
      const body = { contactId: contactId ?? '', invitationCode, isTOLA };
      return (await press(tab, 'initiateJoin', { body })).data.uuid;
    }
    case 'school':
      return (await press(tab, 'initiateSchoolJoin', { body: { invitationCode: SCHOOL_CODE } })).data.uuid;
    case 'selfNomination': {
      const body = { hasConfirmedEligibility: true, isTOLA };
      return (await press(tab, 'initiateSelfNomination', { body })).data.uuid;
    }
    case 'checkout': {
      const body = {
        hubspotContactId: contactIdOf(join.contact!),
        mainProductId: join.membership,
        upsellProductId: join.upsell,
        overrideMainPriceCents: join.overrideCents,
      };
      return (await press(tab, 'initiateCheckout', { body })).data.joinSessionUuid;
    }
  }
}

export function detailsOf(join: Join, change = '') {
  const identity = join.inNameOf === null ? {} : identityOf(join.inNameOf);
  return details({ personalEmail: emailOf(join.name, change), ...identity });
}

export async function fillOrder(tab: Browser, uuid: string, join: Join): Promise<void> {
  for (const id of join.extras)
    await press(tab, 'setSessionProduct', { params: { uuid }, body: { productUuid: productUuid(id) } });
  if (join.typedDonation)
    await press(tab, 'setCustomDonation', { params: { uuid }, body: { amount: join.typedDonation } });
  if (!join.removesOne) return;
  const { data } = await press(tab, 'getCheckoutDetails', { params: { uuid } });
  const line = data.products.find(({ productId }) => productId >= 20);
  if (line?.sessionProductUuid)
    await press(tab, 'deleteSessionProduct', {
      params: { sessionProductUuid: line.sessionProductUuid },
      body: {},
    });
}

/**
 * Lets another tab of the same person change the order. The server refuses the change while the order is frozen, and once the
 * order is paid.
 */
export async function changeOrder({ person }: Run, tab: Browser, join: Join): Promise<void> {
  const uuid = person.uuid!;
  const params = { uuid };
  const other = tab.otherTab();
  if (join.changes === 'email') {
    if (join.start === 'checkout') return;
    await other.call('submitDetails', { params, body: detailsOf(join, '.changed') });
  } else if (join.changes === 'membership' && !join.undergraduate)
    await other.call('setMembership', { params, body: { membershipId: join.membership === 1 ? 2 : 1 } });
  else await other.call('setSessionProduct', { params, body: { productUuid: productUuid(33) } });
}

/**
 * Completes the screens that are left before Checkout. `goOn` is the path of the screen to which the server has sent the person.
 * All screens before that one are complete already.
 */
export async function goTo({ person }: Run, tab: Browser, goOn: string): Promise<void> {
  const { join } = person;
  const params = { uuid: person.uuid! };
  if (/student-details/.test(goOn)) await press(tab, 'submitDetails', { params, body: detailsOf(join) });
  if (/student-details|membership/.test(goOn))
    await press(tab, 'setMembership', { params, body: { membershipId: join.membership } });
}

/** Loads the Checkout screen as apps/web/screens/checkout/order.ts does. */
export async function lookAt({ person }: Run, tab: Browser): Promise<Look> {
  const params = { uuid: person.uuid! };
  for (let reading = 1; ; reading++) {
    const shown = await tab.call('getCheckoutDetails', { params });
    if (shown.status !== 200) return leadOn(shown);
    const order = readOrder(shown.data);
    const amount = order.totalDueTodayCents;
    const body = { amount, currency: 'usd' as const, billingEmail: shown.data.billingEmail };
    const intent = await tab.call('createPaymentIntent', { params, body });
    if (intent.status === 200) {
      const { clientSecret, revision } = intent.data;
      person.screen = {
        cents: amount,
        productId: order.membership!.productId,
        revision,
        clientSecret,
        intentId: clientSecret.split('_secret_')[0]!,
      };
      // A person who confirms the card without beginning the payment may be charged for any order that one of their tabs has
      // shown. So every order that is shown is recorded.
      if (person.join.pays === 'direct')
        person.seen.push({ kind: 'join', cents: amount, productId: person.screen.productId });
      return { screen: person.screen };
    }
    if (intent.status !== 409 || intent.goOn || reading === 3) return leadOn(intent);
  }
}

function leadOn({ status, goOn, message }: Answered<CallName>): Look {
  return status === 409 && goOn ? { goOn } : { message: `${status} ${message}` };
}

function readOrder({ products }: Data<'getCheckoutDetails'>) {
  return summarise(
    products.map((product) => ({
      ...product,
      type: product.productType,
      priceCents: fromPrice(product.price),
    })),
  );
}

/**
 * Presses Buy Now: begins the payment, confirms it at the provider, and releases the order if the confirmation failed
 * (apps/web/screens/checkout/paymentWork.ts).
 */
export async function buy(
  { world, person }: Run,
  tab: Browser,
  screen: Screen,
  join: Join,
  card: CardTry,
): Promise<Outcome> {
  const params = { uuid: person.uuid! };
  const saw: Seen = { kind: 'join', cents: screen.cents, productId: screen.productId };
  if (join.pays === 'begun') {
    const begun = await tab.call('beginPayment', {
      params,
      body: { revision: screen.revision, agreeToPolicies: true },
    });
    if (begun.status === 409) return begun.message === PAYING_ELSEWHERE ? 'waiting' : 'changed';
    if (begun.status !== 200) return 'changed';
  }
  if (join.leaves === 'begun') return 'left';
  if (join.hesitatesMs > 0) await pause(join.hesitatesMs);
  person.seen.push(saw);
  await person.beforeCard?.();
  if (join.processing && !person.held) await holdPayment(world, person, screen.intentId, join.processing);
  const confirmed = await confirmCard(world, screen.clientSecret, card);
  if (confirmed === 'succeeded' || confirmed === 'processing') return 'paid';
  if (confirmed === 'left') return join.cards.length > 1 ? 'waiting' : 'left';
  const released = await tab.call('releasePayment', { params, body: {} });
  if (released.status === 200 && released.data.state === 'paid') return 'paid';
  return released.status === 200 && released.data.state === 'paying' ? 'waiting' : 'refused';
}

/**
 * Lets somebody else pay by the join's pay link, in a browser of their own (apps/web/screens/pay). The outcome is `waiting` if
 * the payment may still succeed, so that the joiner's page keeps polling.
 */
export async function payByLink(run: Run, tab: Browser, join: Join): Promise<Outcome> {
  const { world, person } = run;
  const { data } = await press(tab, 'createPayLink', {
    params: { uuid: person.uuid! },
    body: { agreeToPolicies: true },
  });
  const params = { token: data.path.split('/').at(-1)! };
  const payer = { ...person, cookies: new Map<string, string>() };
  const from = new Browser(world, payer).otherTab();
  const page = await from.call('getPayPage', { params });
  if (page.status !== 200 || !page.data.order) return 'changed';
  const { revision, total, features } = page.data.order;
  const described = features.map(({ description }) => description);
  const { catalogue } = world.wired.deps.society;
  const shown = catalogue.find((product) => isDeepStrictEqual(product.features, described))!;
  const body = { revision, name: 'Alex Payer', email: payerEmailOf(join.name), hasGuardianConsent: true };
  const begun = await from.call('beginPayPage', { params, body });
  if (begun.status !== 200) return /paying/.test(begun.message ?? '') ? 'waiting' : 'changed';
  if (payer.cookies.size > 0) person.complaints.push('a payer got a cookie');
  const { clientSecret } = begun.data;
  if (join.hesitatesMs > 0) await pause(join.hesitatesMs);
  person.seen.push({ kind: 'join', cents: total, productId: shown.id });
  const confirmed = await confirmCard(world, clientSecret, join.cards[0]!);
  const paymentIntent = clientSecret.split('_secret_')[0]!;
  const ended = await from.call('reportPayPage', {
    body: { paymentIntent, paymentIntentClientSecret: clientSecret },
  });
  if (ended.status === 200 && ended.data.status === 'succeeded') return 'paid';
  return confirmed === 'left' || confirmed === 'succeeded' ? 'waiting' : 'refused';
}

/** Makes the bank leave the payment of this intent undecided. The bank decides it soon, or when {@link settleHeld} is called. */
async function holdPayment(
  world: World,
  person: Person,
  intentId: string,
  { until }: Processing,
): Promise<void> {
  // `held` is set before anything is awaited. Otherwise another tab that presses Buy Now meanwhile would call this function, too.
  person.held = { intentId, settling: null };
  await world.hold(intentId, true);
  if (until === 'soon')
    person.held.settling = pause(HELD_MS).then(() => settle(world, person.join, intentId));
}

/** Whether the bank has yet to decide the person's payment. */
export async function isAtTheBank(world: World, { held }: Person): Promise<boolean> {
  if (!held) return false;
  const { status } = await intentAt(world, held.intentId);
  return status === 'processing';
}

function intentAt(world: World, intentId: string): Promise<{ status: string }> {
  return world.stripe<{ status: string }>('GET', `/v1/payment_intents/${intentId}`);
}

/** Lets the bank decide the payment that it left undecided, if there is one. Each payment is decided once. */
export async function settleHeld(world: World, { join, held }: Person): Promise<void> {
  if (!held) return;
  held.settling ??= settle(world, join, held.intentId);
  await held.settling;
}

async function settle(world: World, join: Join, intentId: string): Promise<void> {
  await world.hold(intentId, false);
  if ((await intentAt(world, intentId)).status !== 'processing') return;
  const declines = join.processing?.succeeds ? {} : { declines: 'insufficient_funds' };
  await world.bank(`payment_intents/${intentId}/settle`, declines);
}

/** Confirms the card as Stripe.js does in the page, with the publishable key and the client secret. */
async function confirmCard(
  world: World,
  clientSecret: string,
  { card, authentication }: CardTry,
): Promise<string> {
  const id = clientSecret.split('_secret_')[0]!;
  const intent = await inThePage(`${world.stripeUrl}/v1/payment_intents/${id}/confirm`, {
    method: 'POST',
    body: new URLSearchParams({
      key: STRIPE_PUBLISHABLE_KEY,
      client_secret: clientSecret,
      payment_method: `pm_card_${card}`,
      return_url: 'http://127.0.0.1/registration/post-payment',
      use_stripe_sdk: 'true',
    }),
  });
  if (intent?.status !== 'requires_action') return intent?.status ?? 'failed';
  if (authentication === 'leave') return 'left';
  const authenticated = await inThePage(`${world.stripeUrl}/authenticate/${id}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ client_secret: clientSecret, outcome: authentication }),
  });
  return authenticated?.status ?? 'failed';
}

/** Makes a call as a script of the page does. Returns null on an error status, or when there was no answer in time. */
async function inThePage(url: string, init: RequestInit): Promise<{ status: string } | null> {
  try {
    const response = await fetch(url, { ...init, signal: AbortSignal.timeout(PAGE_TIMEOUT_MS) });
    const body = (await response.json()) as { status: string };
    return response.ok ? body : null;
  } catch {
    return null;
  }
}

/** Opens the return page (apps/web/screens/postPayment). Returns whether it says that the payment succeeded. */
export async function report({ person }: Run, tab: Browser, screen: Screen, join: Join): Promise<boolean> {
  const body = {
    paymentIntent: screen.intentId,
    paymentIntentClientSecret: screen.clientSecret,
    redirectStatus: join.returns === 'lie' ? 'failed' : 'succeeded',
  };
  const once = async (from: Browser) => {
    for (let asked = 0; asked < PRESSES; asked++) {
      const { status, data } = await from.call('postPayment', { params: { uuid: person.uuid! }, body });
      if (status === 200 && data.status !== 'processing') return data.status === 'succeeded';
      if (status !== 200 && status < 500) return false;
      await pause(PATIENCE_MS);
    }
    return false;
  };
  if (join.returns === 'atOnce') {
    const all = await Promise.all([once(tab), once(tab.otherTab()), once(tab), once(tab.otherTab())]);
    return all.includes(true);
  }
  let answer = await once(tab);
  if (join.returns === 'thrice') for (let again = 0; again < 2; again++) answer = await once(tab.otherTab());
  return answer;
}

/** Reports an unpaid intent as succeeded, which the server must not believe. */
export async function lie({ person }: Run, tab: Browser, screen: Screen): Promise<void> {
  const { status, data } = await tab.call('postPayment', {
    params: { uuid: person.uuid! },
    body: {
      paymentIntent: screen.intentId,
      paymentIntentClientSecret: screen.clientSecret,
      redirectStatus: 'succeeded',
    },
  });
  if (status === 200 && data.status === 'succeeded')
    person.complaints.push('the return page was believed that an unpaid intent had succeeded');
}

/** Records how the join has ended, and that the person no longer intends to pay. */
export function end(person: Person, how: string): void {
  person.isWaiting = false;
  person.ended = how;
}

/** Acts on the upgrade screen (apps/web/screens/upgrade), in the browser that paid. */
export async function upgrade(
  { world, person }: Run,
  tab: Browser,
  screen: Screen,
  join: Join,
): Promise<void> {
  const params = { uuid: person.uuid! };
  if (join.upgrade === 'ignore') return end(person, 'paid');
  const { data, status } = await tab.call('getUpgradeDetails', { params });
  if (status !== 200 || !data.upgradeOption) return end(person, 'paid, and offered no upgrade');
  if (join.upgrade === 'skip') {
    await tab.call('skipUpgrade', { params, body: {} });
    return end(person, 'paid, skipped the upgrade');
  }
  const { productId, price } = data.upgradeOption;
  person.seen.push({ kind: 'upgrade', cents: fromPrice(price), productId });
  if (join.upgrade === 'declined') {
    const intent = await world.stripe<{ payment_method: string | null }>(
      'GET',
      `/v1/payment_intents/${screen.intentId}`,
    );
    if (intent.payment_method) await world.refuseCard(intent.payment_method);
  }
  const charge = async (from: Browser) => {
    let status = 'failed';
    for (let asked = 0; asked < PRESSES; asked++) {
      const answer = await from.call('createUpgradeCharge', {
        params,
        body: { paymentIntent: screen.intentId },
      });
      if (answer.status < 500 && answer.status !== 200) return `${answer.status} ${answer.message}`;
      status = answer.data?.status ?? 'failed';
      if (status === 'succeeded' || status === 'failed') break;
      if (status === 'requires_action')
        await inThePage(`${world.stripeUrl}/authenticate/${answer.data.clientSecret!.split('_secret_')[0]}`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ client_secret: answer.data.clientSecret, outcome: 'complete' }),
        });
      await pause(PATIENCE_MS);
    }
    return status;
  };
  const presses = [charge(tab)];
  if (join.upgrade === 'twice') presses.push(charge(tab.otherTab()));
  end(person, `paid, upgrade ${(await Promise.all(presses)).join(' and ')}`);
}
