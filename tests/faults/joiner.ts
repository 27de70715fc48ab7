import { setTimeout as pause } from 'node:timers/promises';
import { Browser, GaveUp, PATIENCE_MS, PRESSES, press } from './browser.ts';
import {
  buy,
  changeOrder,
  detailsOf,
  end,
  fillOrder,
  goTo,
  isAtTheBank,
  type Look,
  lie,
  lookAt,
  payByLink,
  report,
  start,
  upgrade,
} from './pages.ts';
import type { Person, Run } from './person.ts';
import { type CardTry, isHung, type Join, joinOf } from './plan.ts';
import { plantFaults, Strike } from './planting.ts';
import type { World } from './world.ts';

/**
 * How long a second tab waits before it changes the order (ms). By then the first tab's call is on its way to Stripe. If the plan
 * makes this call slow, the call is not answered yet.
 */
const BEHIND_MS = 60;

const GOOD_CARD: CardTry = { card: 'visa', authentication: 'complete' };

/** Plays a whole join with the calls of the web page (apps/web/screens), until the join is done or the person goes away. */
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

/** Lets a person who left come back a day later and try to pay on the old page. */
export async function comeBackNextDay(world: World, person: Person): Promise<void> {
  if (person.screen) {
    const run: Run = { world, person, nextId: () => 0, meet: async () => {}, part: async () => {} };
    await buy(run, new Browser(world, person), person.screen, joinOf(), GOOD_CARD);
  }
  await comeBack(world, person);
}

/** Lets a person come back to pay when everything works again. Until they can, a minute passes between two tries. */
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
        else await world.wait(person.uuid!, 60);
      } else if ('goOn' in look && !/upgrade|congratulations|upload/.test(look.goOn)) {
        await goTo(run, tab, look.goOn);
      } else {
        const end = 'goOn' in look ? look.goOn : look.message;
        person.ended = `came back: ${end}`;
        person.isWaiting = !isAnEnd(look);
        if (!person.isWaiting) return;
        await world.wait(person.uuid!, 60);
      }
    } catch (error) {
      if (!(error instanceof GaveUp)) throw error;
      person.ended = error.message;
    }
  }
  person.isWaiting = true;
}

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
  if (isHung(join)) {
    if (!('screen' in look)) look = await lookPatiently(run, tab);
    if ('screen' in look) look = await hang(run, tab, join);
  }
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
    const presses = isFirst && join.payer === 'instead' ? [] : [buying()];
    if (isFirst && join.payer) presses.push(payByLink(run, tab, join));
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
        // An impatient person opens another tab, presses again there, and changes the order.
        const again = await lookAt(run, tab.otherTab());
        if ('screen' in again) await buy(run, tab.otherTab(), again.screen, join, GOOD_CARD);
        await changeOrder(run, tab, join);
      }
      if (await report(run, tab, screen, join)) {
        person.isWaiting = false;
        return await upgrade(run, tab, screen, join);
      }
    }
    // The person got no answer, and the bank has not decided the payment yet. Every page would only say that the payment is
    // processing, so the person leaves.
    if (join.processing?.until === 'nextDay' && (await isAtTheBank(world, person)))
      return end(person, 'left while it was processing');
    // A payment is still under way: here, in another tab, or by the pay link. The person waits for 20 seconds.
    if (outcomes.includes('waiting')) {
      await world.wait(uuid, 20);
      if (isFirst && join.changes && join.changesWhen === 'left') await changeOrder(run, tab, join);
    }
    look = await lookAt(run, tab);
  }
  person.ended = 'goOn' in look ? look.goOn : 'message' in look ? look.message : 'pressed in vain';
  person.isWaiting = !isAnEnd(look);
}

/** Whether the join is paid, or Checkout says that there is nothing to pay. */
function isAnEnd(look: Look): boolean {
  if ('goOn' in look) return /upgrade|congratulations|upload/.test(look.goOn);
  return 'message' in look && /already/.test(look.message);
}

/**
 * Makes two changes of the order's intent, A and B, hang: our server waits right before or after its request to Stripe.
 *
 * - A hangs for longer than our server waits for a change (createPaymentIntent.ts). The server therefore replaces the intent.
 * - Then B hangs. While it does, A ends, and the order is changed once more.
 * - B ends last, between Buy Now and the card's confirmation.
 */
async function hang(run: Run, tab: Browser, join: Join): Promise<Look> {
  const { person } = run;
  const other = tab.otherTab();
  const donate = (from: Browser, amount: string) =>
    press(from, 'setCustomDonation', { params: { uuid: person.uuid! }, body: { amount } });
  await donate(tab, '3.21');
  const late = await hangingChange(run, tab, join.changesWhen === 'hung' ? 'before' : 'after');
  await donate(other, '4.32');
  await lookPatiently(run, other);
  await donate(other, '54.30');
  const dear = await hangingChange(run, other, 'before');
  person.beforeCard = dear.end;
  await late.end();
  await donate(tab, '4.32');
  return lookAt(run, tab);
}

/** Opens Checkout until it shows the order, or says that there is nothing to pay, but at most {@link PRESSES} times. */
async function lookPatiently(run: Run, tab: Browser): Promise<Look> {
  for (let tries = 1; ; tries++) {
    const look = await lookAt(run, tab);
    if ('screen' in look || isAnEnd(look) || tries === PRESSES) return look;
    if ('goOn' in look) await goTo(run, tab, look.goOn);
    else await pause(PATIENCE_MS);
  }
}

/**
 * Opens Checkout, which makes the server change the intent at Stripe. The server has to wait right before that call or right
 * after it (`side`). The returned `end` lets the server go on, and resolves when the change is over.
 */
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
  const look = lookPatiently(run, tab);
  const came = await Promise.race([arrived.promise.then(() => true), look.then(() => false)]);
  if (came) person.hangs++;
  return {
    async end() {
      for (const server of world.servers) server.disarm(armed.id);
      goesOn.resolve();
      await look;
    },
  };
}
