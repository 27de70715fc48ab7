import type pg from 'pg';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';

/**
 * The counters of this process, for Prometheus (docs/reference.md, "Metrics"). They are counted in any case, since that costs
 * next to nothing, but served only if METRICS_PORT is set. Labels have few values, all from our code: never a person, a session or
 * a path.
 */
export const registry = new Registry();
const registers = [registry];

const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** The label `route` is a route template, or `none` if no route matches. */
export const requestSeconds = new Histogram({
  name: 'induct_http_request_duration_seconds',
  help: 'Requests by method, route template and status, and how long they took.',
  labelNames: ['method', 'route', 'status'] as const,
  buckets: SECONDS,
  registers,
});

export const requestsShed = new Counter({
  name: 'induct_requests_shed_total',
  help: 'Requests answered 503 since the process had more to do than it can, by what they were for.',
  labelNames: ['priority'] as const,
  registers,
});

/** Counts how often joins reach each stage. If a joiner goes back and repeats a step, the stage is counted a second time. */
export const joins = new Counter({
  name: 'induct_joins_total',
  help: 'Joins by the stage that they reached.',
  labelNames: ['stage'] as const,
  registers,
});

/** The outcome `refunded` means that a payment succeeded but bought nothing, so all of it is refunded. */
export const payments = new Counter({
  name: 'induct_payments_total',
  help: 'Payments by kind and outcome, each counted once.',
  labelNames: ['kind', 'outcome'] as const,
  registers,
});

export const providerSeconds = new Histogram({
  name: 'induct_provider_call_duration_seconds',
  help: 'Calls to Stripe, HubSpot and the mail server by result, and how long they took.',
  labelNames: ['provider', 'operation', 'result'] as const,
  buckets: SECONDS,
  registers,
});

export const browserReports = new Counter({
  name: 'induct_browser_reports_total',
  help: 'Reports of browsers by what they are about: content that was blocked, or a page of ours that broke.',
  labelNames: ['kind'] as const,
  registers,
});

export const backgroundRounds = new Counter({
  name: 'induct_background_rounds_total',
  help: 'Rounds of background work by task and result.',
  labelNames: ['task', 'result'] as const,
  registers,
});

/**
 * The counters that alerts watch must exist with the value 0 before the first event. Otherwise Prometheus would not see that event
 * as an increase.
 */
for (const stage of ['started', 'detailed', 'ordering', 'paying', 'paid', 'upgraded'])
  joins.inc({ stage }, 0);
for (const kind of ['join', 'upgrade'])
  for (const outcome of ['succeeded', 'declined', 'refunded']) payments.inc({ kind, outcome }, 0);
for (const kind of ['blocked', 'broken']) browserReports.inc({ kind }, 0);
for (const priority of ['new', 'joining', 'paying']) requestsShed.inc({ priority }, 0);

/** Whether the mail server failed when this process last sent a letter. */
export const mailServer = { isDown: false };

/** The database connection pools of this process, by name. */
const pools = new Map<string, pg.Pool>();

/** Includes a pool's connections in the metrics. The pool replaces an earlier one of the same name. */
export function watchPool(name: string, pool: pg.Pool): void {
  pools.set(name, pool);
}

new Gauge({
  name: 'induct_database_connections',
  help: "Connections to the database by pool and state; 'waiting' are calls that wait for one.",
  labelNames: ['pool', 'state'] as const,
  registers,
  collect() {
    this.reset();
    for (const [pool, { totalCount, idleCount, waitingCount, options }] of pools) {
      this.set({ pool, state: 'open' }, totalCount);
      this.set({ pool, state: 'idle' }, idleCount);
      this.set({ pool, state: 'waiting' }, waitingCount);
      this.set({ pool, state: 'allowed' }, options.max);
    }
  },
});
