import { sql } from 'kysely';
import type { Database } from './client.ts';

export interface Turn {
  /** What the last run reached; null the first time. */
  reachedAt: Date | null;
  /** When this run was claimed, by the database's clock. */
  at: Date;
}

/**
 * Claims a due task for one of all the processes on this database; null for the others. The next run is due after so many seconds,
 * whatever becomes of this one.
 */
export async function takeTurn(database: Database, name: string, seconds: number): Promise<Turn | null> {
  const { rows } = await sql<{ reached_at: Date | null; at: Date }>`
    insert into schedule as task (name, due_at) values (${name}, now() + make_interval(secs => ${seconds}))
    on conflict (name) do update set due_at = excluded.due_at where task.due_at <= now()
    returning reached_at, now() as at`.execute(database);
  const row = rows[0];
  return row ? { reachedAt: row.reached_at, at: row.at } : null;
}

/** Sets when a finished task is due again (s). One that was interrupted is due when its claim ends. */
export async function postpone(database: Database, name: string, seconds: number): Promise<void> {
  await sql`update schedule set due_at = now() + make_interval(secs => ${seconds}) where name = ${name}`.execute(
    database,
  );
}

/** Records what a task has reached. */
export async function reach(database: Database, name: string, at: Date): Promise<void> {
  await database.updateTable('schedule').set({ reached_at: at }).where('name', '=', name).execute();
}
