import { createHash } from 'node:crypto';
import type { Fault } from '../../emulators/shared/faults.ts';
import { type KillPoint, killPoints, type Operation, operations } from './operations.ts';
import { type Random, random } from './random.ts';

/** What one person does, and what happens to the person and the payment. All of it is decided before anything runs. */
export interface Join {
  name: string;
  start: 'invite' | 'school' | 'selfNomination' | 'checkout';
  /** The index of the contact to whom the person's code or link leads; null for none. Two joins may have the same contact. */
  contact: number | null;
  /**
   * The index of the contact whose name and email the person types, as a stranger could, too; null: the person types other ones.
   */
  inNameOf: number | null;
  undergraduate: boolean;
  /** The product id of the membership. */
  membership: 1 | 2 | 3;
  /** The membership's price in cents, if the person comes by a checkout link that sets a price; otherwise null. */
  overrideCents: number | null;
  upsell: 10 | null;
  /** Product ids of donation presets and store items. */
  extras: readonly number[];
  /** The amount in dollars, as typed. */
  typedDonation: string | null;
  /** Whether the person removes one of the added items. */
  removesOne: boolean;
  /** What the person changes in another tab. */
  changes: 'donation' | 'membership' | 'email' | null;
  /**
   * When a second tab changes the order.
   * - `looking`: after the first tab has first loaded Checkout.
   * - `before`: between that first load and Buy Now.
   * - `during`: while Buy Now is pressed.
   * - `after`: after the card was charged.
   * - `left`: after the person has left an authentication unfinished.
   * - `behind`: while a change by the first tab is on its way to Stripe. The second tab then pays.
   * - `hung`: while our server waits right before it asks Stripe for the first tab's change of the intent.
   * - `hungAfter`: while our server waits right after Stripe has made the first tab's change of the intent.
   *
   * For `hung` and `hungAfter`, a second change of the intent hangs as well. The first change ends before the order is changed
   * once more and paid.
   */
  changesWhen: 'looking' | 'behind' | 'before' | 'during' | 'after' | 'left' | 'hung' | 'hungAfter';
  /** The time between Buy Now and the card's confirmation (ms). */
  hesitatesMs: number;
  /**
   * How the person pays. `begun`: begins the payment and then confirms the card, as the page does. `direct`: confirms the card with
   * the client secret, without beginning the payment first.
   */
  pays: 'begun' | 'direct';
  /** The cards to try, in order; further tries use the last one. */
  cards: readonly CardTry[];
  /** How long the bank leaves the first payment undecided, and how it then decides; null: the bank decides at once. */
  processing: Processing | null;
  /** When the person goes away; null: not before the end. */
  leaves: 'checkout' | 'begun' | 'paid' | null;
  /**
   * What happens to the payment at the end of the day; null: nothing. Otherwise one of these happens:
   * - Staff refund all of it in Stripe's dashboard; a day later the bank may return this refund.
   * - Staff refund one item in the dashboard, in some joins after they asked for this refund in Induct while Stripe did not
   *   answer.
   * - The bank opens an inquiry, and a day later closes it or turns it into a dispute.
   * - The bank opens a dispute, which stays open, or is won or lost a day later.
   */
  aftermath: Aftermath | null;
  /** Whether a person who left comes back a day later, with the old page still open. */
  comesBackNextDay: boolean;
  /** Whether two tabs press Buy Now at the same time, on different servers. */
  pressesTwice: boolean;
  /**
   * Whether somebody else pays by a pay link, in another browser: `instead` of the person's first press of Buy Now, or `beside`
   * it, at the same time; null: nobody else is asked to pay.
   */
  payer: 'instead' | 'beside' | null;
  /** How the return page reports the payment. `lie`: it reports an unpaid intent as succeeded, and later the paid one as failed. */
  returns: 'once' | 'thrice' | 'atOnce' | 'lie';
  upgrade: 'take' | 'twice' | 'skip' | 'ignore' | 'declined';
  webhooks: 'deliver' | 'lost' | 'late' | 'doubled' | 'reordered' | 'forged';
  faults: readonly PlannedFault[];
  kill: Kill | null;
  /** Where or when a server's database connections are ended; null: they are not. */
  breakOff: Kill | null;
  /**
   * The status of the contact that HubSpot has with the typed email. `blank`: the contact has no status; null: there is no such
   * contact.
   */
  known: 'blank' | 'prospect' | 'former' | null;
  /** The server that the person's first tab uses. */
  server: 0 | 1;
}

export const aftermaths = [
  'refunded',
  'itemReturned',
  'itemReturnedInOutage',
  'refundFailed',
  'inquired',
  'inquiryEscalated',
  'disputed',
  'disputeWon',
  'disputeLost',
] as const;
export type Aftermath = (typeof aftermaths)[number];

export interface Processing {
  /** When the bank decides the payment: a moment later, or on the next day, when the person has gone. */
  until: 'soon' | 'nextDay';
  succeeds: boolean;
  /** Whether the person opens Checkout again and presses Buy Now there, instead of waiting on the return page. */
  reloads: boolean;
}

export interface CardTry {
  /** Suffix of Stripe's test payment methods `pm_card_…`. */
  card: string;
  /** What the cardholder does when the bank asks for authentication. */
  authentication: 'complete' | 'fail' | 'leave';
}

export interface PlannedFault extends Pick<Fault, 'kind' | 'status' | 'times' | 'skip' | 'ms'> {
  operation: Operation;
}

/**
 * When a server is killed, or its database connections are ended: when the server reaches a kill point (operations.ts), or this
 * many ms after Buy Now.
 */
export type Kill = { point: KillPoint } | { afterMs: number };

export interface Plan {
  seed: number;
  /** Whether PostgreSQL is restarted when half of the joins are done. */
  restartsDatabase: boolean;
  /** Whether a server has to die at every kill point. Points that were not reached get additional joins. */
  killsEverywhere: boolean;
  /**
   * The joins, in units. A unit is one join, or several joins that are played at the same time and wait for each other before
   * they pay.
   */
  units: readonly (readonly Join[])[];
  /** The points at which servers are killed during the background work after the day, one kill after the other. */
  night: readonly KillPoint[];
}

/** Returns a plan of these units, without kills at night or a restart of PostgreSQL. */
export function planWith(units: Plan['units']): Plan {
  return { seed: 0, killsEverywhere: false, restartsDatabase: false, night: [], units };
}

/** Returns a join in which nothing unusual happens, except what `change` says. */
export function joinOf(change: Partial<Join> = {}): Join {
  return {
    name: 'join',
    start: 'school',
    contact: null,
    inNameOf: null,
    undergraduate: false,
    membership: 1,
    overrideCents: null,
    upsell: null,
    extras: [],
    typedDonation: null,
    removesOne: false,
    changes: null,
    changesWhen: 'before',
    hesitatesMs: 0,
    pays: 'begun',
    cards: [{ card: 'visa', authentication: 'complete' }],
    processing: null,
    leaves: null,
    aftermath: null,
    comesBackNextDay: false,
    pressesTwice: false,
    payer: null,
    returns: 'once',
    upgrade: 'ignore',
    webhooks: 'deliver',
    faults: [],
    kill: null,
    breakOff: null,
    known: null,
    server: 0,
    ...change,
  };
}

const good: CardTry = { card: 'visa', authentication: 'complete' };
const cardRows: readonly (readonly CardTry[])[] = [
  [good],
  [good],
  [good],
  [{ card: 'mastercard', authentication: 'complete' }],
  [{ card: 'visa_chargeDeclined', authentication: 'complete' }, good],
  [
    { card: 'visa_chargeDeclinedInsufficientFunds', authentication: 'complete' },
    { card: 'visa_chargeDeclined', authentication: 'complete' },
    good,
  ],
  [{ card: 'threeDSecure2Required', authentication: 'complete' }],
  [{ card: 'authenticationRequiredOnSetup', authentication: 'complete' }],
  [{ card: 'threeDSecure2Required', authentication: 'fail' }, good],
  [
    {
      card: 'authenticationRequiredChargeDeclinedInsufficientFunds',
      authentication: 'complete',
    },
    good,
  ],
  [{ card: 'threeDSecure2Required', authentication: 'leave' }, good],
];

/** The timeout of a server's calls to Stripe (ms); in production it is 20 s. */
export const STRIPE_TIMEOUT_MS = 1_500;

const faultKinds: readonly Pick<PlannedFault, 'kind' | 'status' | 'ms'>[] = [
  { kind: 'status', status: 500 },
  { kind: 'status', status: 409 },
  { kind: 'status_after', status: 500 },
  { kind: 'cut' },
  { kind: 'cut_after' },
  { kind: 'hang' },
  { kind: 'hang_after' },
  { kind: 'slow', ms: 400 },
  // Stripe answers later than the timeout of a server or a page. So Stripe does the work after the caller has given up, possibly
  // at the same time as the caller's retry.
  { kind: 'slow', ms: STRIPE_TIMEOUT_MS + 200 },
];

/** Where database connections are ended: in a transaction, between calls, and around calls to Stripe. */
const breakPoints: readonly KillPoint[] = [
  'commit:before',
  'commit:before',
  'commit:after',
  'retrieveIntent:after',
  'createIntent:after',
  'updateIntent:before',
];

/**
 * How many requests in a row a fault may hit. The Stripe client sends a request three times at most. So a fault that hits 3 or
 * more requests leaves the client without a good answer.
 */
const timesOf = [1, 2, 3, 4];

/**
 * Points of the background work at which servers are killed at night. Plans use them in this order, so every run with kills
 * reaches the first.
 */
const atNight: readonly KillPoint[] = [
  'listEvents:before',
  'listIntents:after',
  'listEvents:after',
  'listIntents:before',
  'cancelIntent:before',
  'refund:after',
  'cancelIntent:after',
  'refund:before',
];

/** A run of at least this many joins also restarts PostgreSQL. */
const LARGER = 100;

/** Makes the whole plan of a run. A sixth of the `kills` happen at night. */
export function planOf({ seed, joins, kills }: { seed: number; joins: number; kills: number }): Plan {
  const dice = random(seed);
  const decks = decksOf(dice);
  const units: Join[][] = [];
  for (let count = 0, contacts = 0; count < joins; ) {
    // Both joins of the first pair belong to one contact and are charged, so that every run has a refund.
    const isPair = count + 2 <= joins && (count === 0 || dice.chance(0.14));
    const pays = isPair ? (count === 0 ? 'direct' : decks.pair()) : null;
    const sharesProduct = dice.chance(0.5);
    const unit = Array.from({ length: isPair ? 2 : 1 }, (_, index) => {
      const start = isPair ? dice.pick(['invite', 'checkout'] as const) : decks.start();
      const join = someJoin(dice, decks, `${count + index + 1}`, start);
      const contact = start === 'invite' || start === 'checkout' ? contacts : null;
      if (!pays) return { ...join, contact };
      const membership = (sharesProduct || index === 0 ? 1 : 2) as 1 | 2;
      const server = index as 0 | 1;
      const cards = pays === 'direct' ? [good] : join.cards;
      const faults = count === 0 ? [] : join.faults;
      return {
        ...join,
        contact,
        undergraduate: false,
        membership,
        pays,
        cards,
        faults,
        processing: null,
        leaves: null,
        payer: null,
        server,
      };
    });
    const [own] = unit as [Join];
    if (!isPair && own.start === 'invite' && count + 2 <= joins && decks.isBeside()) {
      unit[0] = {
        ...own,
        ...inNameOf(contacts, own),
        ...(decks.isStrangerAlone() && { leaves: 'checkout' }),
      };
      const stranger = someJoin(dice, decks, `${count + 2}`, decks.strangerStart());
      unit.push({ ...stranger, ...inNameOf(contacts, stranger) });
    }
    contacts++;
    count += unit.length;
    units.push(unit);
  }
  dealHangs(dice, units, Math.floor(joins / 20));
  const night = Math.min(Math.ceil(kills / 6), kills);
  dealKills(dice, units, kills - night);
  return {
    seed,
    restartsDatabase: joins >= LARGER,
    killsEverywhere: kills >= 2 * killPoints.length,
    units,
    night: Array.from({ length: night }, (_, index) => atNight[index % atNight.length]!),
  };
}

function decksOf(dice: Random) {
  return {
    start: dice.deck<Join['start']>(['invite', 'school', 'selfNomination', 'checkout']),
    isBeside: dice.deck([true, false]),
    isStrangerAlone: dice.deck([true, false]),
    strangerStart: dice.deck<Join['start']>(['school', 'selfNomination']),
    cards: dice.deck(cardRows),
    changes: dice.deck<Join['changes']>(['donation', 'membership', 'email', null, null, null]),
    changesWhen: dice.deck<Join['changesWhen']>(['looking', 'behind', 'before', 'during', 'after']),
    leaves: dice.deck<Join['leaves']>(['checkout', 'begun', 'paid', ...Array<null>(9).fill(null)]),
    payer: dice.deck<Join['payer']>(['instead', 'beside', ...Array<null>(6).fill(null)]),
    returns: dice.deck<Join['returns']>(['once', 'once', 'thrice', 'atOnce', 'lie']),
    upgrade: dice.deck<Join['upgrade']>(['take', 'take', 'twice', 'skip', 'ignore', 'declined']),
    webhooks: dice.deck<Join['webhooks']>(['deliver', 'lost', 'late', 'doubled', 'reordered', 'forged']),
    pays: dice.deck<Join['pays']>(['begun', 'begun', 'begun', 'direct']),
    operation: dice.deck(
      (Object.keys(operations) as Operation[]).filter((name) => operations[name].names !== 'nothing'),
    ),
    fault: dice.deck(faultKinds),
    pair: dice.deck<'begun' | 'direct'>(['begun', 'direct']),
    processing: dice.deck<Processing | null>([
      { until: 'soon', succeeds: true, reloads: false },
      { until: 'soon', succeeds: true, reloads: true },
      { until: 'soon', succeeds: false, reloads: true },
      { until: 'nextDay', succeeds: true, reloads: false },
      { until: 'nextDay', succeeds: false, reloads: false },
      ...Array<null>(15).fill(null),
    ]),
    breakOff: dice.deck<Kill | null>([
      ...breakPoints.map((point) => ({ point })),
      { afterMs: 100 },
      ...Array<null>(23).fill(null),
    ]),
    known: dice.deck<Join['known']>(['blank', 'prospect', 'former', ...Array<null>(12).fill(null)]),
    aftermath: dice.deck<Join['aftermath']>([
      ...aftermaths,
      ...Array<null>(2 * aftermaths.length).fill(null),
    ]),
  };
}

function someJoin(dice: Random, decks: ReturnType<typeof decksOf>, name: string, start: Join['start']): Join {
  const undergraduate = (start === 'invite' || start === 'selfNomination') && dice.chance(0.2);
  const extras = [20, 21, 22, 30, 31, 32, 33].filter(() => dice.chance(0.2));
  const cards = decks.cards();
  const isLeft = cards.some(({ authentication }) => authentication === 'leave') && dice.chance(0.5);
  const membership = undergraduate ? 3 : dice.pick([1, 1, 2] as const);
  const typesEmail = start === 'school' || start === 'selfNomination';
  return {
    ...joinOf(),
    name,
    start,
    undergraduate,
    membership,
    overrideCents: start === 'checkout' && dice.chance(0.4) ? 4000 + dice.integer(6000) : null,
    upsell: start === 'checkout' && dice.chance(0.5) ? 10 : null,
    extras,
    typedDonation: dice.chance(0.3) ? (1 + dice.integer(20_000) / 100).toFixed(2) : null,
    removesOne: dice.chance(0.3),
    changes: isLeft ? 'donation' : decks.changes(),
    changesWhen: isLeft ? 'left' : decks.changesWhen(),
    hesitatesMs: dice.chance(0.2) ? dice.integer(800) : 0,
    pays: decks.pays(),
    cards,
    processing: decks.processing(),
    leaves: decks.leaves(),
    // Only a join without a contact has an aftermath. With a contact, a second payment must be refunded, and a dispute would make
    // that refund impossible.
    aftermath: typesEmail ? decks.aftermath() : null,
    comesBackNextDay: dice.chance(0.5),
    pressesTwice: dice.chance(0.15),
    payer: decks.payer(),
    returns: decks.returns(),
    upgrade: decks.upgrade(),
    webhooks: decks.webhooks(),
    faults: Array.from({ length: dice.pick([0, 1, 1, 2, 3]) }, () => ({
      operation: decks.operation(),
      ...decks.fault(),
      times: dice.pick(timesOf),
      skip: dice.pick([0, 0, 0, 1]),
    })),
    breakOff: decks.breakOff(),
    known: typesEmail ? decks.known() : null,
    server: dice.integer(2) as 0 | 1,
  };
}

/** Returns the properties of a join whose joiner types the name and email of a contact. */
function inNameOf(contact: number, { changes }: Join): Partial<Join> {
  return { inNameOf: contact, known: null, changes: changes === 'email' ? null : changes };
}

/**
 * The properties of a join in which changes of the intent can hang. The order changes, the payment is begun as the page does it,
 * and no other fault disturbs the join.
 */
const hangs = {
  changes: 'donation',
  pays: 'begun',
  leaves: null,
  pressesTwice: false,
  payer: null,
  faults: [],
  processing: null,
} as const satisfies Partial<Join>;

/** Chooses `hung` joins that are not played together with another join, and makes their changes of the intent hang. */
function dealHangs(dice: Random, units: Join[][], hung: number): void {
  const singles = units.filter(({ length }) => length === 1);
  const side = dice.deck(['hung', 'hungAfter'] as const);
  for (let left = Math.min(hung, singles.length); left > 0; left--) {
    const [unit] = singles.splice(dice.integer(singles.length), 1);
    unit![0] = { ...unit![0]!, ...hangs, changesWhen: side() };
  }
}

export function isHung({ changes, changesWhen }: Join): boolean {
  return changes !== null && (changesWhen === 'hung' || changesWhen === 'hungAfter');
}

/**
 * Assigns kills to joins, at most one to each. A quarter of the kills happen at a random time after Buy Now. The others happen at
 * a kill point (not at the `list…` points, which only background work reaches), and their joins are changed to reach it. Every
 * such point is used once before any is used again.
 */
function dealKills(dice: Random, units: Join[][], kills: number): void {
  const ofPair = /^(refund|moneyBack)/;
  const nextPoint = dice.deck(killPoints.filter((point) => !/^list/.test(point)));
  const free = units.flatMap((unit, index) =>
    unit.flatMap((join, place) => (isHung(join) ? [] : { index, place })),
  );
  for (let left = kills; left > 0 && free.length > 0; left--) {
    const point = dice.chance(0.25) ? null : nextPoint();
    const fits = free.filter(
      ({ index }) =>
        point === null ||
        ofPair.test(point) === (units[index]!.length > 1 && units[index]![0]!.pays === 'direct'),
    );
    const { index, place } = dice.pick(fits.length > 0 ? fits : free);
    free.splice(
      free.findIndex((one) => one.index === index && one.place === place),
      1,
    );
    units[index]![place] = {
      ...units[index]![place]!,
      ...(point ? { ...comesBy(point), payer: null } : { leaves: null }),
      kill: point ? { point } : { afterMs: dice.integer(1200) },
    };
  }
}

/**
 * Returns the smallest unit for a kill point: the fewest joins that are needed so that the first of them reaches the point.
 * Returns null for a point that only background work reaches.
 */
export function unitAt(point: KillPoint, contact: number): Join[] | null {
  if (point.startsWith('list')) return null;
  // The name is part of an email address, which may not contain a colon.
  const name = point.replace(':', '.');
  const join = { ...joinOf({ name }), ...comesBy(point), kill: { point } };
  if (!/^(refund|moneyBack)/.test(point)) return [join];
  const second = { start: 'checkout', contact, pays: 'direct' } as const;
  return [
    { ...join, start: 'invite', contact, pays: 'direct' },
    joinOf({ name: `${name}.second`, ...second, server: 1 }),
  ];
}

/** Returns the properties that a join needs to reach this kill point. */
function comesBy(point: KillPoint): Partial<Join> {
  // A customer is created in the background, or by an upgrade if there is none yet.
  if (/^(confirmWithSavedCard|createCustomer)/.test(point))
    return { leaves: null, pays: 'begun', returns: 'once', upgrade: 'take', cards: [good], faults: [] };
  if (point.startsWith('cancelIntent'))
    return {
      leaves: null,
      pays: 'begun',
      pressesTwice: false,
      faults: [],
      changes: 'donation',
      changesWhen: 'left',
      cards: [{ card: 'threeDSecure2Required', authentication: 'leave' }, good],
    };
  if (/^(refund|moneyBack)/.test(point)) return { leaves: null, faults: [] };
  if (point.startsWith('updateIntent'))
    return { leaves: null, pays: 'begun', faults: [], changes: 'donation', changesWhen: 'looking' };
  return { leaves: null, pays: 'begun' };
}

/** Returns a short hash that identifies the plan. */
export function digestOf(plan: Plan): string {
  return createHash('sha256').update(JSON.stringify(plan)).digest('hex').slice(0, 12);
}
