import { sql } from 'kysely';
import type { Data } from '#contract/schemas.ts';
import { type JoinSessionState, screenToGoOn } from '#core/joinSession.ts';
import type { Deps } from '../deps.ts';
import { firstName } from '../session/person.ts';
import { stateAllows } from '../session/states.ts';

/** Where a join that is not paid goes on; null for any other. The first name only for the browser that holds it. */
export async function openJoin(
  deps: Deps,
  uuid: string,
  isItsBrowser: boolean,
): Promise<Data<'getOpenJoin'>> {
  const { rows } = await sql<{ state: JoinSessionState; first_name: string | null }>`
    select state, ${firstName} as first_name
    from join_session session left join contact on contact.id = contact_id
    where uuid = ${uuid} and ${stateAllows('readContact')}`.execute(deps.database);
  const row = rows[0];
  if (!row) return { join: null };
  return {
    join: {
      firstName: isItsBrowser ? row.first_name : null,
      goOn: screenToGoOn({
        state: row.state,
        paymentIntent: null,
        upgradeOpen: false,
        owesTranscript: false,
      }),
    },
  };
}
