import { killPoints } from './operations.ts';
import { digestOf, planOf } from './plan.ts';
import { joinsIn, type Report, runPlan } from './run.ts';

/**
 * `npm run test:faults`: plays random joins while servers are killed and Stripe, the database and the network fail. The
 * environment variables are SEED (any number; random when absent), JOINS and KILLS (how many joins and kills). The exit status is
 * 0 when the checks found no difference and everything that was planned has happened. The last line of the output has the counts.
 * With TELL=1 the output also lists how each join ended.
 *
 * The seed decides all that is planned, but not how the processes interleave. To study a difference, find its join in the plan
 * (plan.ts) and make it the smallest join that still shows the difference (found.test.ts).
 */
const seed = readNumber('SEED', Math.floor(Math.random() * 1_000_000));
const plan = planOf({ seed, joins: readNumber('JOINS', 300), kills: readNumber('KILLS', 60) });
const replay = process.env.JOINS || process.env.KILLS ? ` JOINS=${joinsIn(plan).length}` : '';
console.log(`SEED=${seed}${replay}, plan ${digestOf(plan)}: ${joinsIn(plan).length} joins`);

const began = Date.now();
const abort = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => abort.abort(new Error(`ended by ${signal}`)));
const report = await runPlan(plan, { say: console.log, signal: abort.signal });
if (process.env.TELL)
  for (const { join, ended, missed } of report.people)
    console.log(`  ${join.name.padEnd(4)} ${ended}${missed ? ` (missed ${missed})` : ''}`);
const missing = notEnough(report);
for (const { kind, subject, text } of report.differences) console.log(`✖ ${kind}: ${subject}\n    ${text}`);
for (const text of missing) console.log(`✖ ${text}`);
console.log(lastLine(report));
process.exitCode = report.differences.length + missing.length > 0 ? 1 : 0;

/**
 * Returns a sentence for each thing that should have happened in the run and did not. A run that does less than planned proves
 * nothing.
 */
function notEnough({ kills, people, calls, paid }: Report): string[] {
  const wanted = readNumber('KILLS', 60);
  const unkilled = plan.killsEverywhere ? killPoints.filter((point) => !kills.includes(point)) : [];
  const uncalled = Object.entries(calls).filter(([, count]) => count === 0);
  return [
    ...(kills.length < wanted ? [`${kills.length} kills of ${wanted}`] : []),
    ...(paid < people.length / 2 ? [`only ${paid} of ${people.length} joins were paid`] : []),
    ...unkilled.map((point) => `no server was killed at ${point}`),
    ...uncalled.map(([name]) => `${name} was never called: nothing is known of its requests`),
  ];
}

function lastLine({
  people,
  paid,
  kills,
  faults,
  webhooks,
  refunds,
  held,
  hung,
  breaks,
  exits,
  calls,
  differences,
}: Report): string {
  const atPoints = kills.filter((kill) => kill !== 'any');
  const counts = (of: Record<string, number>) =>
    Object.entries(of)
      .sort()
      .map(([name, count]) => `${name} ${count}`)
      .join(', ');
  return [
    `joins ${people.length} (paid ${paid})`,
    `kills ${kills.length} (at ${new Set(atPoints).size} of ${killPoints.length} named points ${atPoints.length}, at any time ${kills.length - atPoints.length})`,
    `faults ${Object.values(faults).reduce((sum, count) => sum + count, 0)} (${counts(faults)})`,
    `webhooks (${counts(webhooks)})`,
    `refunds ${refunds}`,
    `processing ${held}`,
    `hung changes ${hung}`,
    `database broken off ${breaks}`,
    `server exits ${exits}`,
    `requests ${Object.values(calls).reduce((sum, count) => sum + count, 0)} (${counts(calls)})`,
    `${Math.round((Date.now() - began) / 1000)} s`,
    `seed ${seed}`,
    `differences ${differences.length}`,
  ].join('; ');
}

function readNumber(name: string, fallback: number): number {
  const value = process.env[name]?.trim();
  if (!value) return fallback;
  if (!/^\d+$/.test(value)) throw new Error(`${name} must be a whole number, not "${value}".`);
  return Number(value);
}
