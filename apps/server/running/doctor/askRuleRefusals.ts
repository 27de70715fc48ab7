import { RULE } from '../../crm/hubspot/failures.ts';
import type { Answer } from '../../providers/answer.ts';
import { askOnce } from './askDatabase.ts';

export interface RuleRefusal {
  reason: string;
  joins: number;
}

/** Counts the joins that HubSpot has refused because of a validation rule of the account. Changes nothing. */
export function askRuleRefusals(databaseUrl: string): Promise<Answer<readonly RuleRefusal[]>> {
  return askOnce(databaseUrl, async (client) => {
    const { rows } = await client.query<RuleRefusal>(
      'select refusal as reason, count(*)::int as joins from crm_delivery where starts_with(refusal, $1) group by 1 order by 2 desc, 1',
      [RULE],
    );
    return rows;
  });
}
