import { sql } from 'kysely';
import type { Database } from './client.ts';

export interface Turn {
  /** The time that the last `reach` of this task recorded; null before the first. */
  reachedAt: Date | null;
  /** The database's time when this run was claimed. */
  at: Date;
}

/**
 * Claims a task if it is due. Returns null if it is not due, for example because another process on this database has just claimed
 * it. Whether the run succeeds or fails, the task is due again `seconds` after it was claimed.
 */
export async function takeTurn(database: Database, name: string, seconds: number): Promise<Turn | null> {
  const { rows } = await sql<{ reached_at: Date | null; at: Date }>`
    insert into schedule as task (name, due_at) values (${name}, now() + make_interval(secs => ${seconds}))
    on conflict (name) do update set due_at = excluded.due_at where task.due_at <= now()
    returning reached_at, now() as at`.execute(database);
  const row = rows[0];
  return row ? { reachedAt: row.reached_at, at: row.at } : null;
}

/** Makes a task due again `seconds` from now, instead of at the time that its claim set. */
export async function postpone(database: Database, name: string, seconds: number): Promise<void> {
  await sql`update schedule set due_at = now() + make_interval(secs => ${seconds}) where name = ${name}`.execute(
    database,
  );
}

/** Records the time up to which a task has completed its work. */
export async function reach(database: Database, name: string, at: Date): Promise<void> {
  await database.updateTable('schedule').set({ reached_at: at }).where('name', '=', name).execute();
}
