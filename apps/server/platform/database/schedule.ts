import { sql } from 'kysely';
import type { Database } from './client.ts';

export interface Turn {
  /** The time that the last run reached (see `reach`); null at the first run. */
  reachedAt: Date | null;
  /** When this run was claimed, by the database's clock. */
  at: Date;
}

/**
 * Claims a due task, so that only one process on this database runs it. Returns null if another process has claimed it or if it is
 * not due. The task is due again after `seconds`, however this run ends.
 */
export async function takeTurn(database: Database, name: string, seconds: number): Promise<Turn | null> {
  const { rows } = await sql<{ reached_at: Date | null; at: Date }>`
    insert into schedule as task (name, due_at) values (${name}, now() + make_interval(secs => ${seconds}))
    on conflict (name) do update set due_at = excluded.due_at where task.due_at <= now()
    returning reached_at, now() as at`.execute(database);
  const row = rows[0];
  return row ? { reachedAt: row.reached_at, at: row.at } : null;
}

/**
 * Sets after how many seconds a finished task is due again. Without this call (the run was interrupted, say), the task is due when
 * its claim ends.
 */
export async function postpone(database: Database, name: string, seconds: number): Promise<void> {
  await sql`update schedule set due_at = now() + make_interval(secs => ${seconds}) where name = ${name}`.execute(
    database,
  );
}

/** Records the time up to which a task has completed its work. */
export async function reach(database: Database, name: string, at: Date): Promise<void> {
  await database.updateTable('schedule').set({ reached_at: at }).where('name', '=', name).execute();
}
