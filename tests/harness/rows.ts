import type { TestServer } from './testServer.ts';

/** A join's state as the database has it. */
export async function stateOf({ deps }: TestServer, uuid: string) {
  const { state } = await deps.database
    .selectFrom('join_session')
    .select('state')
    .where('uuid', '=', uuid)
    .executeTakeFirstOrThrow();
  return state;
}

/** The memberships that a join has bought, its upgrade too. */
export function membershipsOf({ deps }: TestServer, uuid: string) {
  return deps.database.selectFrom('membership').selectAll().where('session_uuid', '=', uuid).execute();
}

/** What staff were told of a join, the oldest first. */
export async function noticesOf({ deps }: TestServer, uuid: string): Promise<string[]> {
  const rows = await deps.database
    .selectFrom('staff_notice')
    .select('message')
    .where('session_uuid', '=', uuid)
    .orderBy('id')
    .execute();
  return rows.map(({ message }) => message);
}
