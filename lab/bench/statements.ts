import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import { Client } from 'undici';
import { control, forgetRequests, requestsTo, setFault } from '../../tests/harness/providers.ts';
import { Browser, type Observe } from './flow.ts';
import type { Induct } from './induct.ts';
import { openLoop } from './load.ts';
import { spreadOf } from './numbers.ts';
import type { Subject } from './subjects.ts';

/** How many statements and requests to Stripe one call of a join makes. */
export interface CallCount {
  call: string;
  /** The statements, including BEGIN and COMMIT: each is a round trip to the database. */
  statements: number;
  /** Requests to Stripe that the call waits for. */
  stripe: number;
}

const JOINS = 20;
/**
 * By how much Stripe's answer to creating a customer is delayed (ms). The server creates the customer after it has answered the
 * last call of the join, so this request must not count for that call. With the delay, it appears in the emulator's list only
 * after the call's requests were counted.
 */
const CUSTOMER_MS = 300;

/**
 * Counts statements and requests to Stripe for every call of a join, one join after the other. Takes the median of {@link JOINS}
 * joins, since background work adds statements now and then. Stripe's webhooks are held back, since they would add statements, too.
 * Needs a PostgreSQL with pg_stat_statements.
 */
export async function countCalls(subject: Subject, induct?: Induct): Promise<CallCount[]> {
  const { database, flow } = subject;
  const nextPerson = await subject.people(2 * JOINS);
  const counts = new Map<string, Omit<CallCount, 'call'>[]>();
  const observe: Observe = async (call, make) => {
    await database.query('select pg_stat_statements_reset()');
    if (induct) await forgetRequests(induct.stripe.url);
    const answer = await make();
    const statements = await statementsSinceReset(database);
    // `asked` has only the requests that Stripe has answered by now.
    const asked = induct ? await requestsTo(induct.stripe.url) : [];
    if (!counts.has(call)) counts.set(call, []);
    counts.get(call)!.push({ statements, stripe: asked.filter(({ path }) => path !== '/v1/events').length });
    return answer;
  };

  await database.query('create extension if not exists pg_stat_statements');
  // Warms up: afterwards every connection of the pools has prepared its statements.
  await openLoop(flow, nextPerson, { count: JOINS, perSecond: 100, paying: true });
  if (induct) {
    await control(induct.stripe.url, 'POST', 'webhooks', { mode: 'hold' });
    const slow = { kind: 'slow', ms: CUSTOMER_MS, path: '/v1/customers', times: JOINS };
    await setFault(induct.stripe.url, slow);
  }
  const connection = new Client(flow.url);
  for (let join = 0; join < JOINS; join++) {
    const [browser, number] = [new Browser(connection, observe), nextPerson()];
    await flow.pay(browser, number, await flow.order(browser, number));
    // Waits for the background work of this join, which must not count towards the next join.
    if (induct) await pause(2 * CUSTOMER_MS);
  }
  await connection.close();
  return [...counts].map(([call, each]) => ({
    call,
    statements: spreadOf(each.map(({ statements }) => statements)).median,
    stripe: spreadOf(each.map(({ stripe }) => stripe)).median,
  }));
}

async function statementsSinceReset(database: pg.Client): Promise<number> {
  const { rows } = await database.query<{ calls: number }>(
    `select coalesce(sum(calls), 0)::int as calls from pg_stat_statements
     where dbid = (select oid from pg_database where datname = current_database()) and query !~ 'pg_stat_statements'`,
  );
  return rows[0]!.calls;
}
