import type pg from 'pg';

/** The timeouts that a database, a role or a provider may set for every session. `transaction_timeout` exists from PostgreSQL 17 on. */
const TIMEOUTS = [
  'statement_timeout',
  'lock_timeout',
  'transaction_timeout',
  'idle_in_transaction_session_timeout',
  'idle_session_timeout',
];

/** Switches off all timeouts of a connection's session. */
export async function switchOffTimeouts(client: Pick<pg.Client, 'query'>): Promise<void> {
  await client.query("select set_config(name, '0', false) from pg_settings where name = any($1)", [TIMEOUTS]);
}
