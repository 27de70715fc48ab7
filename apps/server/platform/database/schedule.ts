import { sql } from 'kysely';
import type { Database } from './client.ts';

export interface Turn {
  /** How far the last one got; null the first time. */
  reachedAt: Date | null;
  /** When this turn was taken, by the database's clock. */
  at: Date;
}

/**
 * Takes a task's turn, when it is due, for one of all the processes on this database; null for the others. Whatever
 * becomes of it, the next turn comes after so many seconds.
 */
export async function takeTurn(database: Database, name: string, seconds: number): Promise<Turn | null> {
  const { rows } = await sql<{ reached_at: Date | null; at: Date }>`
    insert into schedule as task (name, due_at) values (${name}, now() + make_interval(secs => ${seconds}))
    on conflict (name) do update set due_at = excluded.due_at where task.due_at <= now()
    returning reached_at, now() as at`.execute(database);
  const row = rows[0];
  return row ? { reachedAt: row.reached_at, at: row.at } : null;
}

/** A task that is done is due again in so many seconds; one that was cut off, when its turn ends. */
export async function postpone(database: Database, name: string, seconds: number): Promise<void> {
  await sql`update schedule set due_at = now() + make_interval(secs => ${seconds}) where name = ${name}`.execute(
    database,
  );
}

/** Notes how far a task got. */
export async function reach(database: Database, name: string, at: Date): Promise<void> {
  await database.updateTable('schedule').set({ reached_at: at }).where('name', '=', name).execute();
}
