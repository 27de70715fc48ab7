import { setTimeout as pause } from 'node:timers/promises';
import type { CallName } from '#contract/calls.ts';
import type { Data } from '#contract/schemas.ts';
import { fromPrice } from '#core/money.ts';
import { summarise } from '#core/orderSummary.ts';
import { STRIPE_PUBLISHABLE_KEY } from '../../emulators/keys.ts';
import { details } from '../harness/steps.ts';
import type { Answered } from '../harness/testServer.ts';
import { Browser, GaveUp, PATIENCE_MS, PRESSES, press } from './browser.ts';
import type { Person, Run, Screen, Seen } from './person.ts';
import { type CardTry, isHung, type Join, joinOf, type Processing } from './plan.ts';
import { plantFaults, Strike } from './planting.ts';
import { codeOf, contactIdOf, emailOf, SCHOOL_CODE, type World } from './world.ts';

/** Long enough for a call to be on its way to Stripe, and shorter than it is slow (ms). */
const BEHIND_MS = 60;
const PAGE_TIMEOUT_MS = 900;
/** How long the bank holds a payment that it settles soon (ms). */
const HELD_MS = 700;
/** How long a change of an intent is given to come as far as Stripe (ms); it waits for another one for 3 s. */
const CHANGE_MS = 6_000;
const PRODUCT_UUID = '0b6f2f0e-58f1-4d38-9a4e-3f5a9f1f00';
const productUuid = (id: number) => PRODUCT_UUID + String(id).padStart(2, '0');

/** Checkout shows an order, or leads on to another screen, or says why not. */
type Look = { screen: Screen } | { goOn: string } | { message: string };
type Outcome = 'paid' | 'changed' | 'refused' | 'waiting' | 'left';

/** Plays a whole join as the web page makes its calls (apps/web/screens), until it is done or the person goes away. */
export async function playJoin(run: Run): Promise<void> {
  const { person } = run;
  const strikes = (['kill', 'breakOff'] as const).map((kind) => new Strike(run, kind));
  try {
    await play(run, strikes);
  } catch (error) {
    if (!(error instanceof GaveUp)) throw error;
    person.ended = error.message;
  } finally {
    await run.meet();
    await run.part();
    await person.beforeCard?.();
    await person.held?.settling;
    for (const strike of strikes) await strike.now();
  }
}

/** Somebody who left comes back a day later, to the page as it was, and means to pay. */
export async function comeBackNextDay(world: World, person: Person): Promise<void> {
  if (person.screen) {
    const run: Run = { world, person, nextId: () => 0, meet: async () => {}, part: async () => {} };
    await buy(run, new Browser(world, person), person.screen, joinOf(), GOOD_CARD);
  }
  await comeBack(world, person);
}

/** Somebody comes back to pay, when everything works again. */
export async function comeBack(world: World, person: Person): Promise<void> {
  const run: Run = { world, person, nextId: () => 0, meet: async () => {}, part: async () => {} };
  const tab = new Browser(world, person);
  const join = { ...person.join, ...joinOf({ name: person.join.name }), start: person.join.start };
  for (let press = 0; press < PRESSES; press++) {
    try {
      const look = await lookAt(run, tab);
      if ('screen' in look) {
        const outcome = await buy(run, tab, look.screen, join, GOOD_CARD);
        if (outcome === 'paid') await report(run, tab, look.screen, join);
        if (outcome !== 'paid') await world.wait(person.uuid!, 60);
      } else if ('goOn' in look && !/upgrade|congratulations|upload/.test(look.goOn)) {
        await goTo(run, tab, look.goOn);
      } else {
        const end = 'goOn' in look ? look.goOn : look.message;
        person.ended = `came back: ${end}`;
        person.isWaiting = !isAnEnd(look);
        if (!person.isWaiting) return;
      }
    } catch (error) {
      if (!(error instanceof GaveUp)) throw error;
      person.ended = error.message;
    }
  }
  person.isWaiting = true;
}

const GOOD_CARD: CardTry = { card: 'visa', authentication: 'complete' };

async function play(run: Run, strikes: readonly Strike[]): Promise<void> {
  const { world, person } = run;
  const { join } = person;
  let tab = new Browser(world, person);
  const uuid = await start(tab, join);
  person.uuid = uuid;
  await plantFaults(run, null);
  for (const strike of strikes) strike.arm(null);
  if (join.start !== 'checkout') {
    await press(tab, 'submitDetails', { params: { uuid }, body: detailsOf(join) });
    await press(tab, 'setMembership', { params: { uuid }, body: { membershipId: join.membership } });
  }
  await fillOrder(tab, uuid, join);
  if (join.changes && join.changesWhen === 'looking') {
    await lookAt(run, tab);
    await changeOrder(run, tab, join);
  }
  let look = await lookAt(run, tab);
  if (join.changes && join.changesWhen === 'behind') {
    await press(tab, 'setCustomDonation', { params: { uuid }, body: { amount: '3.21' } });
    void lookAt(run, tab);
    await pause(BEHIND_MS);
    tab = tab.otherTab();
    await press(tab, 'setCustomDonation', { params: { uuid }, body: { amount: '4.32' } });
    look = await lookAt(run, tab);
  }
  if (isHung(join) && 'screen' in look) look = await hang(run, tab, join);
  if ('screen' in look) {
    await plantFaults(run, look.screen.intentId);
    for (const strike of strikes) strike.arm(look.screen.intentId);
    if (join.returns === 'lie') await lie(run, tab, look.screen);
  }
  if (join.leaves === 'checkout') return end(person, 'left at checkout');
  person.isWaiting = true;
  await run.meet();
  for (const strike of strikes) strike.soon();

  for (let tries = 0, card = 0; tries < PRESSES; tries++) {
    if (!('screen' in look)) {
      if (isAnEnd(look)) break;
      if ('goOn' in look) await goTo(run, tab, look.goOn);
      else await pause(PATIENCE_MS);
      look = await lookAt(run, tab);
      continue;
    }
    const { screen } = look;
    const isFirst = tries === 0;
    if (isFirst && join.changes && join.changesWhen === 'before') await changeOrder(run, tab, join);
    const buying = () => buy(run, tab, screen, join, join.cards[Math.min(card, join.cards.length - 1)]!);
    const presses = [buying()];
    if (join.pressesTwice) presses.push(buy(run, tab.otherTab(), screen, join, GOOD_CARD));
    if (isFirst && join.changes && join.changesWhen === 'during')
      await changeOrder(run, tab.otherTab(), join);
    const outcomes = await Promise.all(presses);
    if (outcomes.includes('left')) return end(person, `left: ${join.leaves ?? 'authentication'}`);
    if (outcomes.includes('refused') || outcomes.includes('waiting')) card++;
    if (outcomes.includes('paid')) {
      if (isFirst && join.changes && join.changesWhen === 'after') await changeOrder(run, tab, join);
      if (join.leaves === 'paid') return end(person, 'left after paying');
      if (person.held && join.processing?.until === 'nextDay')
        return end(person, 'left while it was processing');
      if (isFirst && person.held && join.processing?.reloads) {
        // Not patient: another tab, another press, another order.
        const again = await lookAt(run, tab.otherTab());
        if ('screen' in again) await buy(run, tab.otherTab(), again.screen, join, GOOD_CARD);
        await changeOrder(run, tab, join);
      }
      if (await report(run, tab, screen, join)) {
        person.isWaiting = false;
        return await upgrade(run, tab, screen, join);
      }
    }
    // "Finish it, or wait a moment and try again."
    if (outcomes.includes('waiting')) {
      await world.wait(uuid, 20);
      if (isFirst && join.changes && join.changesWhen === 'left') await changeOrder(run, tab, join);
    }
    look = await lookAt(run, tab);
  }
  person.ended = 'goOn' in look ? look.goOn : 'message' in look ? look.message : 'pressed in vain';
  person.isWaiting = !isAnEnd(look);
}

function end(person: Person, how: string): void {
  person.isWaiting = false;
  person.ended = how;
}

/** Paid for, or told that there is nothing to pay. */
function isAnEnd(look: Look): boolean {
  if ('goOn' in look) return /upgrade|congratulations|upload/.test(look.goOn);
  return 'message' in look && /already/.test(look.message);
}

async function start(tab: Browser, join: Join): Promise<string> {
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

function detailsOf(join: Join, change = '') {
  return details({ personalEmail: emailOf(join.name, change) });
}

async function fillOrder(tab: Browser, uuid: string, join: Join): Promise<void> {
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
 * The first change of the intent hangs until it is given up and replaced; then another hangs, the first ends, and the order is
 * changed once more. The second ends between Buy Now and the card's confirmation.
 */
async function hang(run: Run, tab: Browser, join: Join): Promise<Look> {
  const { person } = run;
  const other = tab.otherTab();
  const donate = (from: Browser, amount: string) =>
    press(from, 'setCustomDonation', { params: { uuid: person.uuid! }, body: { amount } });
  await donate(tab, '3.21');
  const late = await hangingChange(run, tab, join.changesWhen === 'hung' ? 'before' : 'after');
  await donate(other, '4.32');
  await lookAt(run, other);
  await donate(other, '54.30');
  const dear = await hangingChange(run, other, 'before');
  person.beforeCard = dear.end;
  await late.end();
  await donate(tab, '4.32');
  return lookAt(run, tab);
}

/** A look at Checkout whose change of the intent does not come back; `end` lets it, and waits for it. */
async function hangingChange(
  run: Run,
  tab: Browser,
  side: 'before' | 'after',
): Promise<{ end: () => Promise<void> }> {
  const { world, person } = run;
  const arrived = Promise.withResolvers<void>();
  const goesOn = Promise.withResolvers<void>();
  const armed = { id: run.nextId(), point: `updateIntent:${side}`, about: person.uuid! } as const;
  for (const server of world.servers)
    server.holdAt(armed, () => {
      arrived.resolve();
      return goesOn.promise;
    });
  const look = lookAt(run, tab);
  const late = pause(CHANGE_MS, undefined, { ref: false });
  const came = await Promise.race([arrived.promise.then(() => true), late.then(() => false)]);
  if (came) person.hangs++;
  return {
    async end() {
      for (const server of world.servers) server.disarm(armed.id);
      goesOn.resolve();
      await look;
    },
  };
}

/** Another tab of the same person changes the order; refused while it is frozen or paid. */
async function changeOrder({ person }: Run, tab: Browser, join: Join): Promise<void> {
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

/** The guard leads to a screen that comes before Checkout. */
async function goTo({ person }: Run, tab: Browser, goOn: string): Promise<void> {
  const { join } = person;
  const params = { uuid: person.uuid! };
  if (/student-details/.test(goOn)) await press(tab, 'submitDetails', { params, body: detailsOf(join) });
  if (/student-details|membership/.test(goOn))
    await press(tab, 'setMembership', { params, body: { membershipId: join.membership } });
}

/** The Checkout screen as apps/web/screens/checkout/order.ts loads it. */
async function lookAt({ person }: Run, tab: Browser): Promise<Look> {
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
      // Whoever pays past our own steps may pay what any tab of theirs shows.
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

/** Buy Now: begin, confirm with the provider, release when that failed (apps/web/screens/checkout/Payment.tsx). */
async function buy(
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
    if (begun.status === 409) return /under way/.test(begun.message ?? '') ? 'waiting' : 'changed';
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

/** The bank holds what this intent is paid by; it settles it soon, or when {@link settleHeld} is called. */
async function holdPayment(
  world: World,
  person: Person,
  intentId: string,
  { until }: Processing,
): Promise<void> {
  // Before anything is awaited: another tab may press at the same time, and a payment is held once.
  person.held = { intentId, settling: null };
  await world.hold(intentId, true);
  if (until === 'soon')
    person.held.settling = pause(HELD_MS).then(() => settle(world, person.join, intentId));
}

/** The bank is done with a payment that it held; where it never came to that, with none. It settles each once. */
export async function settleHeld(world: World, { join, held }: Person): Promise<void> {
  if (!held) return;
  held.settling ??= settle(world, join, held.intentId);
  await held.settling;
}

async function settle(world: World, join: Join, intentId: string): Promise<void> {
  await world.hold(intentId, false);
  const intent = await world.stripe<{ status: string }>('GET', `/v1/payment_intents/${intentId}`);
  if (intent.status !== 'processing') return;
  const declines = join.processing?.succeeds ? {} : { declines: 'insufficient_funds' };
  await world.bank(`payment_intents/${intentId}/settle`, declines);
}

/** What Stripe.js does in the page, with the publishable key and the client secret. */
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

/** Null when nothing came back, or an error. */
async function inThePage(url: string, init: RequestInit): Promise<{ status: string } | null> {
  try {
    const response = await fetch(url, { ...init, signal: AbortSignal.timeout(PAGE_TIMEOUT_MS) });
    const body = (await response.json()) as { status: string };
    return response.ok ? body : null;
  } catch {
    return null;
  }
}

/** The return page (apps/web/screens/postPayment); whether it says that the payment succeeded. */
async function report({ person }: Run, tab: Browser, screen: Screen, join: Join): Promise<boolean> {
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

/** Reports an unpaid intent as succeeded. */
async function lie({ person }: Run, tab: Browser, screen: Screen): Promise<void> {
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

/** The upgrade screen (apps/web/screens/upgrade), in the browser that paid. */
async function upgrade({ world, person }: Run, tab: Browser, screen: Screen, join: Join): Promise<void> {
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
