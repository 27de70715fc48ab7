import { sql } from 'kysely';
import type { Data } from '#contract/schemas.ts';
import type { Holding } from '#core/holding.ts';
import { type JoinSessionState, screenToGoOn } from '#core/joinSession.ts';
import type { Deps } from '../deps.ts';
import { isHeldBy, isOpenTo } from '../session/holding.ts';
import { firstName } from '../session/person.ts';
import { stateAllows } from '../session/states.ts';

/**
 * Returns the page where an unpaid join continues in this browser, or that the join is paid if this browser holds it; otherwise
 * null, as for an unknown join. The first name is returned only to a browser that holds the join.
 */
export async function openJoin(deps: Deps, uuid: string, holding: Holding): Promise<Data<'getOpenJoin'>> {
  const { rows } = await sql<{ state: JoinSessionState; first_name: string | null }>`
    select state, case when ${isHeldBy(holding)} then ${firstName} end as first_name
    from join_session session left join person on person.id = person_id
    where uuid = ${uuid} and (${stateAllows('readContact')} and ${isOpenTo(holding)}
      or state = 'paid' and ${isHeldBy(holding)})`.execute(deps.database);
  const row = rows[0];
  if (!row) return { join: null };
  if (row.state === 'paid') return { join: null, paid: { firstName: row.first_name } };
  return {
    join: {
      firstName: row.first_name,
      goOn: screenToGoOn({
        state: row.state,
        paymentIntent: null,
        upgradeOpen: false,
        owesTranscript: false,
      }),
    },
  };
}
