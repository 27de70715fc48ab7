import type pg from 'pg';
import { STRIPE_SECRET_KEY } from '../../emulators/keys.ts';
import { Browser, type Join } from '../flows/flow.ts';
import { seenFrom, stepsOf } from '../flows/flows.ts';
import { Connection } from '../load/connection.ts';
import type { Subject } from '../servers.ts';

/** What one call of a join asks of the database. */
export interface StatementCount {
  step: string;
  /** Without what begins and ends transactions. Each is one round trip. */
  statements: number;
  /** BEGIN, COMMIT and the like. */
  control: number;
  /** PostgreSQL's time for planning and execution (ms). */
  ms: number;
}

const JOINS = 50;

/**
 * Counts the statements of every call, on a server that was started with `switchCounting` on: each call is made for {@link JOINS} joins before the next.
 * What came less than once for two joins was the background's and is not counted. Stripe's webhooks are held back until
 * the join is over and counted by themselves, as `webhooks`.
 */
export async function countStatements(subject: Subject, names: readonly string[]): Promise<StatementCount[]> {
  const { database, flow } = subject;
  const steps = stepsOf(flow).filter(({ name }) => names.includes(name));
  const people = await subject.people(2 * JOINS, names.includes('card'));
  const begin = (number: number) => {
    const connection = new Connection(subject.urls[0]!);
    const browser = new Browser(connection, seenFrom(flow, number));
    return { number, browser, connection, id: '', intent: undefined } as Join & { connection: Connection };
  };
  const joins = Array.from({ length: 2 * JOINS }, (_, index) => begin(people.first + index));
  const [early, counted] = [joins.slice(0, JOINS), joins.slice(JOINS)];
  const webhooks = controlWebhooks(flow);

  await database.query('create extension if not exists pg_stat_statements');
  // Every connection of the pools has prepared its statements.
  for (const step of steps) await Promise.all(early.map((join) => step.run(join)));
  await subject.settle();
  await webhooks('webhooks', { mode: 'hold' });
  const counts: StatementCount[] = [];
  for (const step of steps) {
    await reset(database);
    for (const join of counted) await step.run(join);
    counts.push({ step: step.name, ...(await read(database)) });
  }
  if (names.includes('card')) {
    await reset(database);
    await webhooks('webhooks/flush', {});
    counts.push({ step: 'webhooks', ...(await read(database)) });
  }
  await webhooks('webhooks', { mode: 'deliver' });
  for (const { connection } of joins) connection.close();
  await subject.settle();
  return counts;
}

async function reset(database: pg.Client): Promise<void> {
  await database.query(
    'select pg_stat_statements_reset(0, (select oid from pg_database where datname = current_database()))',
  );
}

async function read(database: pg.Client): Promise<Omit<StatementCount, 'step'>> {
  const { rows } = await database.query<{ is_control: boolean; calls: number; ms: number }>(
    `select query ~* '^\\s*(begin|start|commit|rollback|savepoint|release)' as is_control,
       sum(calls)::int as calls, sum(total_plan_time + total_exec_time) as ms
     from pg_stat_statements
     where dbid = (select oid from pg_database where datname = current_database())
       and calls >= $1 and query !~ 'pg_stat_statements'
     group by 1`,
    [JOINS / 2],
  );
  const of = (isControl: boolean) => (rows.find((row) => row.is_control === isControl)?.calls ?? 0) / JOINS;
  return {
    statements: of(false),
    control: of(true),
    ms: rows.reduce((sum, { ms }) => sum + ms, 0) / JOINS,
  };
}

function controlWebhooks(flow: Subject['flow']) {
  return async (control: string, body: object) => {
    if (flow.server !== 'ours') return;
    const response = await fetch(`${flow.stripe.url}/_emulator/${control}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${STRIPE_SECRET_KEY}` },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`${control}: ${response.status} ${await response.text()}`);
  };
}
