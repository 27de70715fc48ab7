import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { sql } from 'kysely';
import { parse } from 'yaml';
import { metricsOf, samplesOf, scrape } from '../../../tests/harness/scrape.ts';
import { beginPayment, openIntent, orderingJoin, paidJoin, payByCard } from '../../../tests/harness/steps.ts';
import { temporaryFolder } from '../../../tests/harness/temporaryFolder.ts';
import { browser, sharedServer } from '../../../tests/harness/testServer.ts';
import { until } from '../../../tests/harness/until.ts';
import { findProgram } from '../../../tools/local/findProgram.ts';
import { buildApp } from '../app.ts';
import { catchUpOnEvents } from '../books/catchUp.ts';
import { keepReconciliation, reconcile } from '../books/reconcile.ts';
import { startSendingLinks } from '../joining/pass/sendLinks.ts';
import { sendDue } from '../letters/sendLetters.ts';
import { startForgetting } from '../people/privacy/retention.ts';
import { connect } from '../platform/database/client.ts';
import { backgroundRounds } from '../platform/metrics.ts';
import { serveMetrics } from './serveMetrics.ts';

// The test creates the cause of each alert, and scrapes the metrics before and after that. Then promtool evaluates the alert
// rules as if the cause lasted.

const ops = join(import.meta.dirname, '../../../ops');
const alertsFile = join(ops, 'alerts.yaml');
const { groups } = parse(readFileSync(alertsFile, 'utf8')) as {
  groups: { rules: { alert: string; expr: string }[] }[];
};
const rules = groups.flatMap((group) => group.rules);
const dashboard = readFileSync(join(ops, 'dashboard.json'), 'utf8');

const promtool = findProgram('promtool');
const lacksPromtool = promtool
  ? false
  : 'promtool is not installed here (on Debian: apt-get install prometheus)';

const server = await sharedServer();
const { database } = server.deps;
const metrics = await metricsOf(server);
after(() => metrics.close());

/** A connection pool to a port on which nothing listens. */
const nowhere = () => connect('postgres://nobody@127.0.0.1:9/none', { name: 'nowhere' });
const change = (statement: ReturnType<typeof sql>) => statement.execute(database);
const cleanMail = async () => {
  await server.mailFault(null);
  await change(sql`update letter set sent_at = now(), refusal = null where sent_at is null`);
};

interface Cause {
  name: string;
  fires: string[];
  /** How many minutes pass between two increments of the counters; 1 if absent. */
  everyMinutes?: number;
  /**
   * Whether the alert is about the server's own process. For all other alerts the metrics of the process are left out, because
   * here they also measure the test and the stand-ins.
   */
  isOfProcess?: boolean;
  /** Creates the cause. Returns the metrics page, if it is to be scraped at that moment or elsewhere; null if scraping fails. */
  make(): Promise<unknown>;
  end?(): Promise<unknown>;
}

const causes: Cause[] = [
  {
    name: 'all is well',
    fires: [],
    async make() {
      await paidJoin(server, server.client());
      await sendDue(server.deps, server.deps.config.mail!);
    },
  },
  {
    name: 'the server is gone',
    fires: ['InductDown'],
    async make() {
      const gone = await metricsOf(server);
      await gone.close();
      await assert.rejects(gone.scrape());
      return null;
    },
  },
  {
    name: 'the database is gone',
    fires: ['InductDatabaseDown'],
    async make() {
      const lost = await serveMetrics({ ...server.deps, database: nowhere() }, 0);
      const page = await scrape(lost.url);
      await lost.close();
      return page;
    },
  },
  {
    name: 'statements take so long that calls wait for a connection',
    fires: ['InductDatabaseBusy'],
    async make() {
      let waiting: Promise<unknown> | undefined;
      const page = await server.background.transaction().execute(async (holder) => {
        await sql`lock table kept_apart`.execute(holder);
        const statements = Array.from({ length: 15 }, () => sql`select from kept_apart`.execute(database));
        waiting = Promise.all(statements);
        return metrics.scrape();
      });
      await waiting;
      return page;
    },
  },
  {
    name: 'Stripe answers 500',
    fires: ['InductFailing', 'InductPaymentsFailing'],
    async make() {
      const client = server.client();
      const uuids = await Promise.all([1, 2, 3].map(() => orderingJoin(client)));
      const headers = { 'stripe-should-retry': 'false' };
      await server.stripeFault({ kind: 'status', status: 500, headers, times: 100 });
      for (const uuid of uuids) await openIntent(client, uuid).catch(() => {});
    },
    end: () => server.stripeFault(null),
  },
  {
    name: 'somebody tries stolen cards',
    fires: ['InductCardsDeclined'],
    async make() {
      const client = server.client();
      const uuid = await orderingJoin(client);
      for (let count = 0; count < 4; count++) {
        const intent = await openIntent(client, uuid);
        await beginPayment(client, uuid, intent.revision);
        await payByCard(server, intent.id, 'pm_card_chargeDeclined');
        await client.call('releasePayment', { params: { uuid } });
      }
    },
  },
  {
    name: 'HubSpot answers 500',
    fires: ['InductProviderLeftAlone'],
    async make() {
      await server.hubspotFault({ kind: 'status', status: 500, times: 100 });
      for (let count = 0; count < 6; count++) await server.hubspot.getContact('103', 5_000).catch(() => {});
    },
    async end() {
      await server.hubspotFault(null);
      await change(sql`update crm_budget set failures = 0, blocked_until = '-infinity'`);
    },
  },
  {
    name: 'the mail server takes nothing',
    fires: ['InductProviderLeftAlone'],
    async make() {
      await server.mailFault({ kind: 'status', at: 'connect', status: 421, times: 100 });
      await paidJoin(server, server.client());
      await sendDue(server.deps, server.deps.config.mail!);
    },
    end: cleanMail,
  },
  {
    name: 'the mail server refuses a recipient',
    fires: ['InductLettersRefused'],
    async make() {
      await server.mailFault({ kind: 'status', at: 'rcpt', status: 550, message: '5.1.1 No such user' });
      await paidJoin(server, server.client());
      await sendDue(server.deps, server.deps.config.mail!);
    },
    end: cleanMail,
  },
  {
    name: 'HubSpot has not been told of a join for an hour',
    fires: ['InductQueueOld'],
    async make() {
      const { uuid } = await paidJoin(server, server.client());
      await change(
        sql`update crm_delivery set due_since = now() - interval '1 hour' where person_id = (select person_id from join_session where uuid = ${uuid})`,
      );
    },
    end: () => change(sql`update crm_delivery set due_since = now() where due_at is not null`),
  },
  {
    name: "Stripe's events were last fetched an hour ago",
    fires: ['InductEventsNotFetched'],
    async make() {
      await catchUpOnEvents(server.deps);
      await change(
        sql`update schedule set reached_at = reached_at - interval '1 hour' where name = 'events'`,
      );
    },
    end: () => change(sql`update schedule set reached_at = now() where name = 'events'`),
  },
  {
    name: "Stripe's events could never be fetched, and money was never compared, since the server began",
    fires: ['InductEventsNotFetched', 'InductNotReconciled'],
    async make() {
      await change(sql`delete from reconciliation`);
      await change(sql`update schedule set reached_at = null where name = 'events'`);
      const old = await serveMetrics(server.deps, 0, { keptMs: 0, startedAt: Date.now() - 30 * 3_600_000 });
      const page = await scrape(old.url);
      await old.close();
      return page;
    },
    end: () => catchUpOnEvents(server.deps),
  },
  {
    name: 'a membership is lost',
    fires: ['InductMoneyDiffers'],
    async make() {
      const { uuid } = await paidJoin(server, server.client());
      await change(sql`delete from membership where session_uuid = ${uuid}`);
      const found = await reconcile(server.deps, { graceMinutes: 0 });
      await keepReconciliation(server.deps, found, new Date());
    },
    end: () => change(sql`update reconciliation set differences = '[]'`),
  },
  {
    name: 'nights pass without a reconciliation',
    fires: ['InductNotReconciled'],
    async make() {
      await change(sql`update reconciliation set finished_at = now() - interval '30 hours'`);
    },
    end: () => change(sql`update reconciliation set finished_at = now()`),
  },
  {
    name: 'the disk is nearly full',
    fires: ['InductDiskLow'],
    async make() {
      // The disk reserve is larger than any disk, so the storage counts as full.
      const config = { ...server.deps.config, storageReserveBytes: 1e18 };
      const full = await serveMetrics({ ...server.deps, config }, 0);
      const page = await scrape(full.url);
      await full.close();
      return page;
    },
  },
  {
    name: 'there is too much to do',
    fires: ['InductFailing', 'InductShedding'],
    async make() {
      const shedding = { eventLoopDelayMs: 1, heapBytes: 0, rssBytes: 0 };
      const app = await buildApp(
        { ...server.deps, config: { ...server.deps.config, shedding } },
        { measured: () => ({ eventLoopDelay: 1, heapUsed: 0, rssBytes: 0 }) },
      );
      const client = browser(await app.listen({ host: '127.0.0.1', port: 0 }));
      await client.call('checkEligibility', { body: { invitationCode: 'HONOR101' } });
      await app.close();
    },
  },
  {
    name: 'the event loop is blocked again and again',
    fires: ['InductEventLoopBlocked'],
    isOfProcess: true,
    async make() {
      for (let count = 0; count < 2; count++) {
        for (const end = performance.now() + 600; performance.now() < end; );
        // The delay is measured by a timer that is due before this one.
        await setTimeout(0);
      }
    },
  },
  {
    name: 'background work cannot do its work',
    fires: ['InductBackgroundFailing'],
    async make() {
      const failed = async () =>
        (await backgroundRounds.get()).values.some(
          ({ labels, value }) => labels.task === 'send links' && labels.result === 'failed' && value > 0,
        );
      const stop = startSendingLinks({ ...server.deps, database: nowhere() });
      await until(failed);
      await stop();
    },
  },
  {
    name: 'background work that has its turn once an hour cannot do its work',
    fires: ['InductBackgroundFailing'],
    everyMinutes: 60,
    async make() {
      const failed = async () =>
        (await backgroundRounds.get()).values.some(
          ({ labels, value }) => labels.task === 'retention' && labels.result === 'failed' && value > 0,
        );
      const stop = startForgetting({ ...server.deps, database: nowhere() });
      await until(failed);
      await stop();
    },
  },
];

/** Returns a series with the labels that Prometheus adds on scraping. */
const labelled = (series: string) => {
  const [name, labels = ''] = series.split(/[{}]/, 2);
  return `${name}{${[labels, 'job="induct"', 'instance="induct-1:9464"'].filter(Boolean).join(',')}}`;
};

const WELL_MINUTES = 5;
/** How many increments of the counters are simulated after the cause: more than the longest window of a rule has. */
const ILL_TIMES = 12;

/**
 * Returns the series for promtool, with one scrape a minute. The values start as on the page `before`. Later, counters repeatedly
 * grow by the difference between the two pages, and all other values are as on the page `after`.
 */
function seriesOf(before: string, after: string | null, isOfProcess: boolean, everyMinutes: number) {
  const counters = new Set(
    before.matchAll(/^# TYPE (\S+) (?:counter|histogram)$/gm).map(([, name]) => name!),
  );
  const isCounter = (series: string) =>
    counters.has(series.split('{')[0]!.replace(/_(bucket|sum|count)$/, '')) ||
    counters.has(series.split('{')[0]!);
  const was = new Map(samplesOf(before).map(({ series, value }) => [series, value]));
  const is = new Map(samplesOf(after ?? '').map(({ series, value }) => [series, value]));
  const number = (value: number) => String(value).replace('Infinity', 'Inf');
  const up = {
    series: labelled('up'),
    values: `1x${WELL_MINUTES} ${after === null ? 0 : 1}x${ILL_TIMES * everyMinutes}`,
  };
  const series = [...new Set([...was.keys(), ...is.keys()])]
    // No rule reads the buckets of a histogram.
    .filter((name) => !name.includes('_bucket{') && (isOfProcess || !/^(nodejs|process)_/.test(name)))
    .map((name) => {
      const [first, then] = [was.get(name), is.get(name)].map((value) =>
        Number.isNaN(value) ? undefined : value,
      );
      const well = first === undefined ? `_x${WELL_MINUTES}` : `${number(first)}x${WELL_MINUTES}`;
      const growth = isCounter(name) && then !== undefined ? Math.max(0, then - (first ?? 0)) : 0;
      const steps = Array.from({ length: ILL_TIMES }, (_, step) => then! + step * growth);
      const ill =
        then === undefined
          ? 'stale'
          : growth === 0
            ? `${number(then)}x${ILL_TIMES * everyMinutes}`
            : steps.map((value) => `${number(value)}x${everyMinutes - 1}`).join(' ');
      return { series: labelled(name), values: `${well} ${ill}` };
    });
  return [up, ...series];
}

test('every alert fires by its cause, and none without one', { skip: lacksPromtool }, async (t) => {
  const tests: object[] = [];
  for (const { name, fires, isOfProcess = false, everyMinutes = 1, make, end } of causes) {
    const before = await metrics.scrape();
    const made = await make();
    const after = made === null || typeof made === 'string' ? made : await metrics.scrape();
    await end?.();
    tests.push({
      name,
      interval: '1m',
      input_series: seriesOf(before, after, isOfProcess, everyMinutes),
      promql_expr_test: [
        {
          expr: 'group by (alertname) (ALERTS{alertstate="firing"})',
          eval_time: `${WELL_MINUTES + (ILL_TIMES - 1) * everyMinutes}m`,
          exp_samples: fires.map((alertname) => ({
            labels: `{alertname="${alertname}"}`,
            value: 1,
          })),
        },
      ],
    });
  }
  const folder = temporaryFolder(t);
  const file = join(folder, 'tests.yaml');
  writeFileSync(file, JSON.stringify({ rule_files: [alertsFile], evaluation_interval: '1m', tests }));
  const { status, stdout, stderr } = spawnSync(promtool!, ['test', 'rules', file], { encoding: 'utf8' });
  assert.equal(status, 0, stdout + stderr);
});

test('every alert has a cause in these tests, and a line for who is woken by it', () => {
  const reference = readFileSync(join(ops, '../docs/reference.md'), 'utf8');
  const names = rules.map(({ alert }) => alert);
  assert.deepEqual([...new Set(causes.flatMap(({ fires }) => fires))].sort(), names.toSorted());
  for (const name of names) assert.match(reference, new RegExp(`^\\| \`${name}\` \\| .+ \\| .+ \\|$`, 'm'));
});

test('rules and metrics are as Prometheus wants them', { skip: lacksPromtool }, async (t) => {
  execFileSync(promtool!, ['check', 'rules', alertsFile], { stdio: 'pipe' });
  const { url, close } = await metricsOf(server);
  t.after(close);
  // Checks only our own metrics. The names of all others come from prom-client.
  const own = (await scrape(url)).split('\n').filter((line) => /^(# \w+ )?induct_/.test(line));
  const input = `${own.join('\n')}\n`;
  assert.equal(execFileSync(promtool!, ['check', 'metrics'], { input, encoding: 'utf8', stdio: 'pipe' }), '');
});

test('every metric that an alert or the dashboard asks for is one that a server has', async (t) => {
  const { url, close } = await metricsOf(server);
  t.after(close);
  const page = await scrape(url);
  const known = new Set(['up', ...page.matchAll(/^# TYPE (\S+)/gm).map(([, name]) => name!)]);
  const expressions = [
    ...rules.map(({ expr }) => expr),
    ...dashboard.matchAll(/"expr": "((?:[^"\\]|\\.)*)"/g).map(([, expr]) => expr!),
  ];
  assert.ok(expressions.length > rules.length + 10, 'the dashboard has panels');
  for (const expr of expressions)
    for (const [name] of expr.matchAll(/\b(?:induct|nodejs|process)_\w+|\bup\b/g))
      assert.ok(known.has(name) || known.has(name.replace(/_(bucket|sum|count)$/, '')), `${name} in ${expr}`);
});
