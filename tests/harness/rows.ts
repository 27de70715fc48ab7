import type { TestServer } from './testServer.ts';

export async function stateOf({ deps }: TestServer, uuid: string) {
  const { state } = await deps.database
    .selectFrom('join_session')
    .select('state')
    .where('uuid', '=', uuid)
    .executeTakeFirstOrThrow();
  return state;
}

/** Returns the memberships that a join has bought, including its upgrade. */
export function membershipsOf({ deps }: TestServer, uuid: string) {
  return deps.database
    .selectFrom('membership')
    .leftJoin('person', 'person.id', 'person_id')
    .selectAll('membership')
    .select('contact_id')
    .where('session_uuid', '=', uuid)
    .orderBy('membership.id')
    .execute();
}

/** Returns the notices for staff about a join, the oldest first. */
export async function noticesOf({ deps }: TestServer, uuid: string): Promise<string[]> {
  const rows = await deps.database
    .selectFrom('staff_notice')
    .select('message')
    .where('session_uuid', '=', uuid)
    .orderBy('id')
    .execute();
  return rows.map(({ message }) => message);
}
