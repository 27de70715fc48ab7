import pg from 'pg';
import { RULE } from '../hubspot/answer.ts';
import type { Answer } from './answer.ts';

export interface RuleRefusal {
  reason: string;
  joins: number;
}

const TIMEOUT_MS = 5_000;

/** Joins that HubSpot refuses by a rule that an administrator set there. Changes nothing. */
export async function askRuleRefusals(databaseUrl: string): Promise<Answer<readonly RuleRefusal[]>> {
  const client = new pg.Client({
    connectionString: databaseUrl,
    connectionTimeoutMillis: TIMEOUT_MS,
    query_timeout: TIMEOUT_MS,
  });
  client.on('error', () => {});
  try {
    await client.connect();
    const { rows } = await client.query<RuleRefusal>(
      'select crm_refusal as reason, count(*)::int as joins from join_session where starts_with(crm_refusal, $1) group by 1 order by 2 desc, 1',
      [RULE],
    );
    return { said: rows };
  } catch {
    return { down: 'the database does not tell' };
  } finally {
    await client.end().catch(() => {});
  }
}
