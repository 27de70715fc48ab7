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
