import { sql } from 'kysely';
import type { Data } from '#contract/schemas.ts';
import { type Holding, isHeldIn, isOpenIn, type JoinAccess } from '#core/holding.ts';
import { screenToGoOn } from '#core/joinSession.ts';
import { firstName } from '../session/person.ts';
import { accessOf } from '../session/standing.ts';
import type { Deps } from './deps.ts';

/**
 * Returns the page where an unpaid join continues in this browser. If this browser holds a paid join, returns only that it is
 * paid. Otherwise returns null, as for an unknown join. The first name is returned only to a browser that holds the join.
 */
export async function openJoin(deps: Deps, uuid: string, holding: Holding): Promise<Data<'getOpenJoin'>> {
  const { rows } = await sql<JoinAccess & { name: string | null }>`
    select ${accessOf('session')}, ${firstName} as name
    from join_session session left join person on person.id = person_id where uuid = ${uuid}`.execute(
    deps.database,
  );
  const row = rows[0];
  if (!row || !isOpenIn(holding, row)) return { join: null };
  const shown = isHeldIn(holding, row) ? row.name : null;
  if (row.state === 'paid') return { join: null, paid: { firstName: shown } };
  return {
    join: {
      firstName: shown,
      goOn: screenToGoOn({
        state: row.state,
        paymentIntent: null,
        upgradeOpen: false,
        owesTranscript: false,
      }),
    },
  };
}
