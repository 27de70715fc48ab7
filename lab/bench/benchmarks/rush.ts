import { disagreements, untilSent } from '../../../tests/harness/agreement.ts';
import { control, setFault } from '../../../tests/harness/providers.ts';
import { openLoop, type TimedCall } from '../load.ts';
import { flatMemory, sampleMemory } from '../measure.ts';
import { percentile, spreadOf } from '../numbers.ts';
import { atMost, figure, megabytes, type Section, section, table } from '../report.ts';
import { makeOurDatabase, startOurs } from '../subjects.ts';
import { watchOthers } from '../usage.ts';
import { type Bench, startWorld } from '../world.ts';

/** How long the emulated Stripe takes for each request (ms). */
const STRIPE_MS = 350;
/** How many requests to Stripe a call of our API waits for. A call that is not listed waits for none. */
const STRIPE_CALLS: Record<string, number> = { createPaymentIntent: 1, postPayment: 1 };
/** How long (s) joins already run before the measurement begins, so that frequently used code is compiled by then. */
const WARM_UP_SECONDS = 10;
/** The time (ms) within which all joins must be sent to HubSpot. */
const TOLD_WITHIN_MS = 600_000;

/**
 * The benchmark `rush`: many people join at once, as after a mailing. Whole joins with their payment begin at a fixed rate,
 * whether or not earlier ones are over. Each request to Stripe takes {@link STRIPE_MS}, and every webhook is delivered.
 * Afterwards our payments must equal Stripe's, and our members HubSpot's.
 */
export async function benchmarkRush(bench: Bench): Promise<Section> {
  const { options, say, scope } = bench;
  const { perSecond } = options;
  const minutes = options.minutes ?? 5;
  const count = minutes * 60 * perSecond;
  const warmUpCount = WARM_UP_SECONDS * perSecond;
  const world = await startWorld(bench);
  const database = await makeOurDatabase(world);
  const ours = await startOurs(world, database, { known: count + warmUpCount });
  const slow = { kind: 'slow', ms: STRIPE_MS, times: Number.MAX_SAFE_INTEGER };
  const { stripe } = ours.induct;
  await setFault(stripe.url, slow);
  const nextPerson = await ours.people(count + warmUpCount);
  const arrive = (joins: number) =>
    openLoop(ours.flow, nextPerson, { count: joins, perSecond, paying: true }, scope.signal);
  const warmUp = await arrive(warmUpCount);
  const memory = sampleMemory(ours.pid);
  scope.onEnd(() => memory.stop());
  const others = watchOthers();
  const { calls, failures } = await arrive(count);
  const otherCores = others();
  memory.stop();
  failures.push(...warmUp.failures);
  for (const failure of failures.slice(0, 10)) say(failure);
  say(`${count} joins have come; waiting until HubSpot has been told of them`);
  await setFault(stripe.url, null);
  await control(stripe.url, 'POST', 'webhooks/idle');
  const undelivered = await control<{ failed: number }>(stripe.url, 'POST', 'webhooks/flush');
  await untilSent(database.client, TOLD_WITHIN_MS);
  const { lines, members } = await disagreements(database.client, {
    stripeUrl: stripe.url,
    hubspotUrl: ours.induct.hubspot.url,
  });
  for (const line of lines.slice(0, 10)) say(line);

  const added = addedByCall(calls);
  const worst = (share: number) =>
    spreadOf([Math.max(...[...added.values()].map((times) => percentile(times, share)))]);
  const { samples } = memory;
  return section(
    'Rush',
    [
      atMost('joins that failed', 0, spreadOf([failures.length])),
      atMost('what we add to the slowest call, p95 (ms)', 60, worst(0.95)),
      atMost('the same, p99 (ms)', 200, worst(0.99)),
      flatMemory(samples, `${minutes} minutes of the rush`),
      atMost('webhooks that were not delivered', 0, spreadOf([undelivered.failed])),
      atMost('joins without a membership', 0, spreadOf([count + warmUpCount - members])),
      atMost('payments and members on which Stripe, we and HubSpot differ', 0, spreadOf([lines.length])),
    ],
    `${count} whole joins, ${perSecond} a second in an open loop; Stripe’s stand-in answers after ${STRIPE_MS} ms, which are subtracted. Most memory: ${megabytes(Math.max(...samples))}.`,
    `Other programs used ${figure(otherCores)} of a core.`,
    table(
      ['call', 'p50 ms', 'p95 ms', 'p99 ms', 'most ms'],
      [...added].map(([call, times]) => [
        call,
        ...[0.5, 0.95, 0.99, 1].map((share) => figure(percentile(times, share))),
      ]),
    ),
  );
}

/**
 * Returns the times (ms) that our server itself needed for its calls, by the call's name and in ascending order. The time for
 * which a call waited for Stripe is subtracted from its time.
 */
function addedByCall(calls: readonly TimedCall[]): Map<string, number[]> {
  const added = new Map<string, number[]>();
  for (const { call, ms } of calls) {
    if (!added.has(call)) added.set(call, []);
    added.get(call)!.push(Math.max(0, ms - STRIPE_MS * (STRIPE_CALLS[call] ?? 0)));
  }
  for (const times of added.values()) times.sort((a, b) => a - b);
  return added;
}
