import { setTimeout as pause } from 'node:timers/promises';
import { differenceSentence } from '#core/differenceSentence.ts';
import { reconcile } from '../../apps/server/books/reconcile.ts';
import { doAsStaff, spendTheEvening } from './aftermath.ts';
import { sumByHand } from './books.ts';
import { Browser } from './browser.ts';
import { tryCodes } from './codes.ts';
import { countCalls, misshapen } from './conformance.ts';
import { comeBack, comeBackNextDay, playJoin } from './joiner.ts';
import { countByHand, type Difference } from './ledger.ts';
import { countLetters } from './letters.ts';
import { type KillPoint, killPoints, type ServerCall } from './operations.ts';
import { settleHeld } from './pages.ts';
import type { Person } from './person.ts';
import { type Join, joinOf, type Plan, unitAt } from './plan.ts';
import { emailOf, startWorld, type World } from './world.ts';

/** The outcome of a run of a plan. */
export interface Report {
  people: Person[];
  /** How many memberships (without upgrades) are active. */
  paid: number;
  kills: (KillPoint | 'any')[];
  /** How often each kind of fault at Stripe occurred. */
  faults: Record<string, number>;
  /** How many webhooks were treated in each way (webhooks.ts). */
  webhooks: Record<string, number>;
  calls: Record<ServerCall, number>;
  refunds: number;
  /** How many payments the bank left undecided for a while. */
  held: number;
  /** How many changes of an intent were made to hang (joiner.ts). */
  hung: number;
  /** How often a server's database connections were ended. */
  breaks: number;
  /** How often a server ended without being killed. */
  exits: number;
  differences: Difference[];
}

export interface RunOptions {
  /** Additional settings of the two servers. */
  env?: NodeJS.ProcessEnv;
  slowCommitMs?: number;
  /** How many units of the plan run at the same time. A unit is one join, or several that are played together (plan.ts). */
  atOnce?: number;
  say?: (line: string) => void;
  /** When aborted, everything is stopped, and the run rejects with the reason. */
  signal?: AbortSignal;
  /** Called right before the checks. Tests of the checks use it to tamper with the data. */
  meddle?: (world: World, people: readonly Person[]) => Promise<void>;
}

/** How long the joins of a unit (plan.ts) wait for each other (ms). */
const MEETING_MS = 4000;
/** How long (ms) a server may take at night to reach the point at which it is to be killed. */
const NIGHT_MS = 6000;

/**
 * Runs a plan on two servers, and lets the following days pass. Then compares memberships, HubSpot's contacts, letters and the
 * accountant's file with Stripe's charges, and checks the requests to Stripe and the answers that people got.
 */
export async function runPlan(plan: Plan, options: RunOptions = {}): Promise<Report> {
  const say = options.say ?? (() => {});
  const people: Person[] = [];
  const contacts = Math.max(0, ...plan.units.flat().map(({ contact }) => (contact ?? -1) + 1));
  const world = await startWorld({
    contacts: contacts + killPoints.length,
    known: plan.units
      .flat()
      .flatMap(({ name, known }) =>
        known ? { email: emailOf(name), status: known === 'blank' ? null : known } : [],
      ),
    restartsDatabase: plan.restartsDatabase,
    modeOf: (uuid) => people.find((person) => person.uuid === uuid)?.join.webhooks,
    ...(options.env && { env: options.env }),
    ...(options.slowCommitMs && { slowCommitMs: options.slowCommitMs }),
  });
  try {
    // Fails the run when a server cannot be started, at first or after its death.
    const ended = Promise.all(world.servers.map((server) => server.ended)).then(() => {
      throw new Error('a server has stopped');
    });
    const aborted = new Promise<never>((_, reject) => {
      options.signal?.addEventListener('abort', () => reject(options.signal?.reason));
    });
    return await Promise.race([play(), ended, aborted]);
  } finally {
    await world.stop();
  }

  async function play(): Promise<Report> {
    let ids = 0;
    let played = 0;
    const half = joinsIn(plan).length / 2;
    const began = Date.now();
    const playUnit = async (unit: readonly Join[]) => {
      const meet = meeting(unit.length);
      const part = meeting(unit.length);
      await Promise.all(
        unit.map((join) => {
          const person = somebody(join);
          people.push(person);
          return playJoin({ world, person, nextId: () => ++ids, meet: meet(), part: part() });
        }),
      );
      const before = played;
      played += unit.length;
      if (plan.restartsDatabase && before < half && played >= half) await world.restartDatabase();
      if (Math.floor(played / 50) > Math.floor(before / 50))
        say(`  ${played} joins, ${killsOf(world).length} kills, ${seconds(began)} s`);
    };
    await inParallel(plan.units, options.atOnce ?? 6, playUnit);
    const faults = await world.clearFaults();
    await Promise.all(world.servers.map((server) => server.up()));
    await world.webhooks.idle();
    if (plan.killsEverywhere)
      for (const [index, point] of killPoints.entries()) {
        const unit = killsOf(world).includes(point) ? null : unitAt(point, contacts + index);
        if (unit) await playUnit(unit);
      }
    const waiting = people.filter((person) => person.isWaiting);
    if (waiting.length > 0) say(`  ${waiting.length} come back to pay`);
    for (const person of waiting) await comeBack(world, person);
    await world.webhooks.idle();
    const nextDay = await spendTheEvening(world, people);
    await spendTheNight(world, plan.night);
    await world.pass(26);
    await world.webhooks.flushLate();
    await world.settle();
    for (const person of people)
      if (person.join.processing?.until === 'nextDay') await settleHeld(world, person);
    await world.webhooks.idle();
    await world.settle();
    for (const person of people)
      if (person.join.comesBackNextDay && person.ended.startsWith('left'))
        await comeBackNextDay(world, person);
    await nextDay();
    await world.webhooks.idle();
    await world.pass(26);
    await world.settle();
    await doAsStaff(world, people);
    await world.webhooks.idle();
    say(`  a day has passed, ${seconds(began)} s`);

    await options.meddle?.(world, people);
    const requests = await world.requests();
    const refunds = await world.everything<{ id: string }>('refunds');
    const { rows } = await world.database.query<{ paid: number }>(
      `select count(*)::int as paid from membership where type = 'membership' and standing = 'active'`,
    );
    return {
      people,
      paid: rows[0]!.paid,
      kills: killsOf(world),
      faults,
      webhooks: { ...world.webhooks.counts },
      calls: countCalls(requests),
      refunds: refunds.length,
      held: people.filter(({ held }) => held !== null).length,
      hung: people.reduce((sum, { hangs }) => sum + hangs, 0),
      breaks: world.servers.reduce((sum, { breaks }) => sum + breaks.length, 0),
      exits: world.servers.reduce((sum, { exits }) => sum + exits.length, 0),
      differences: [
        ...(await countByHand(world, people)),
        ...(await sumByHand(world)),
        ...(await countLetters(world, people)),
        ...(await byReconcile(world)),
        ...(await tryCodes(world, new Browser(world, somebody(joinOf())), people)),
        ...misshapen(requests),
        ...byPeople(people),
        ...world.servers.flatMap(({ url, exits }) =>
          exits.map((text) => ({ kind: 'a server ended by itself', subject: url, text })),
        ),
        ...world.webhooks.complaints.map((text) => ({ kind: 'webhook', subject: 'webhooks', text })),
      ],
    };
  }
}

function somebody(join: Join): Person {
  return {
    join,
    uuid: null,
    cookies: new Map(),
    seen: [],
    complaints: [],
    ended: 'nowhere',
    missed: null,
    screen: null,
    returned: null,
    held: null,
    hangs: 0,
    beforeCard: null,
    isWaiting: false,
  };
}

/**
 * Reconciles our database with Stripe, by the server's own code. No other check of the suite uses that code. There is no grace
 * period, since all payments are settled by now.
 */
async function byReconcile(world: World): Promise<Difference[]> {
  const { differences } = await reconcile(world.wired.deps, { graceMinutes: 0 });
  return differences.map((each) => ({
    kind: `reconcile: ${each.kind}`,
    subject: each.subject,
    text: differenceSentence(each),
  }));
}

function byPeople(people: readonly Person[]): Difference[] {
  const isSecond = ({ contact, name }: Join) =>
    contact !== null && people.some(({ join }) => join.contact === contact && join.name !== name);
  return people.flatMap(({ join, uuid, isWaiting, ended, complaints }) => {
    const subject = `join ${join.name} (${uuid})`;
    // An unproven purchase in a contact's name must not make the contact count as a member, to whom nothing is sold.
    const isRefused = /already a member/.test(ended) && !isSecond(join);
    return [
      ...(isRefused ? [{ kind: 'refused as a member', subject, text: ended }] : []),
      ...(isWaiting ? [{ kind: 'person stuck', subject, text: ended }] : []),
      ...new Set(complaints).values().map((text) => ({ kind: 'complaint', subject, text })),
    ];
  });
}

/**
 * Kills a server once at each of the points. For each point, a day passes and a server is restarted. A server begins its
 * background work when it starts, and dies when that work reaches the point.
 */
async function spendTheNight(world: World, points: readonly KillPoint[]): Promise<void> {
  for (const [index, point] of points.entries()) {
    const server = world.servers[index % 2]!;
    const id = -1 - index;
    server.arm({ id, point, about: null });
    // The two servers share the background tasks: each task is run by only one of them at a time. If the other server ran this
    // task, a further day passes, and this server is restarted again, up to three times in all.
    for (let tries = point.startsWith('list') ? 3 : 1; tries > 0 && server.isArmed(id); tries--) {
      await world.pass(25);
      await server.kill();
      const deadline = Date.now() + NIGHT_MS;
      while (server.isArmed(id) && Date.now() < deadline) await pause(50);
    }
    server.disarm(id);
    await server.up();
  }
}

function killsOf({ servers }: World): (KillPoint | 'any')[] {
  return servers.flatMap(({ kills }) => kills);
}

/**
 * Makes a barrier for `size` joins that are played together. The returned function is called once for each join, and returns this
 * join's `meet`. A `meet` resolves when all joins have called theirs, or {@link MEETING_MS} after it was called, whichever comes
 * first.
 */
function meeting(size: number): () => () => Promise<void> {
  const all = Promise.withResolvers<void>();
  let left = size;
  return () => {
    let isHere = false;
    return async () => {
      if (isHere) return;
      isHere = true;
      if (--left === 0) all.resolve();
      await Promise.race([all.promise, pause(MEETING_MS, undefined, { ref: false })]);
    };
  };
}

async function inParallel<T>(
  items: readonly T[],
  lanes: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const queue = [...items];
  await Promise.all(
    Array.from({ length: lanes }, async () => {
      for (let item = queue.shift(); item !== undefined; item = queue.shift()) await work(item);
    }),
  );
}

function seconds(since: number): number {
  return Math.round((Date.now() - since) / 1000);
}

export function joinsIn(plan: Plan): Join[] {
  return plan.units.flat();
}
