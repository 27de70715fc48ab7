import { sql } from 'kysely';
import { deliveriesOf } from '../../apps/server/crm/deliveries.ts';
import { noBudget } from '../../apps/server/crm/hubspot/budget.ts';
import { hubspotClient } from '../../apps/server/crm/hubspot/client.ts';
import { syncContacts } from '../../apps/server/crm/syncContacts.ts';
import { reportNothing } from '../../apps/server/providers/trouble.ts';
import { askHubspot } from './providers.ts';
import type { TestServer } from './testServer.ts';

/**
 * Returns helpers for tests of merged and deleted contacts. They create and merge contacts in HubSpot, and make the server learn of
 * a merge or deletion.
 */
export function hubspotPeople(server: TestServer) {
  const atCrm = (method: string, path: string, body?: object) =>
    askHubspot(server.hubspotUrl, method, path, body);
  let people = 0;
  /** Creates a contact in HubSpot with an invite code and the properties `more`. */
  async function person(more: Record<string, string> = {}): Promise<{ id: string; code: string }> {
    const code = `PERSON${++people}`;
    const { id } = await atCrm('POST', '', {
      properties: { email: `person${people}@example.com`, firstname: 'Ada', invitation_code: code, ...more },
    });
    return { id, code };
  }
  const merge = async (primary: string, other: string) =>
    (await atCrm('POST', '/merge', { primaryObjectId: primary, objectIdToMerge: other })).id;
  const sync = () => {
    const { config, society } = server.deps;
    const hubspot = hubspotClient(
      config.providers.hubspot,
      society.crm.fields,
      noBudget,
      'background',
      reportNothing,
    );
    return syncContacts({ ...server.deps, database: server.background, hubspot });
  };
  const contactOf = async (uuid: string) =>
    (
      await sql<{
        contact_id: string | null;
        own_contact: string | null;
        crm_refusal: string | null;
        due: boolean;
      }>`
        select case when not made_contact then contact_id end as contact_id, case when made_contact then contact_id end as own_contact, refusal as crm_refusal,
          due_at is not null as due
        from join_session join person on person.id = join_session.person_id
        left join crm_delivery told on told.person_id in ${deliveriesOf(sql`(${uuid}::uuid)`)} where uuid = ${uuid}`.execute(
        server.background,
      )
    ).rows[0]!;
  /** The ways in which the server learns of a merge or deletion. */
  const ways: [string, (id: string) => Promise<unknown>][] = [
    ['a read', (id) => server.deps.contacts.refresh(id)],
    ['a sync', sync],
    [
      'a sync from scratch',
      () => syncContacts({ ...server.deps, database: server.background }, { fromScratch: true }),
    ],
  ];
  return { atCrm, person, merge, sync, contactOf, ways };
}
