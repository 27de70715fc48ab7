import { setTimeout as pause } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { sql } from 'kysely';
import { connect, type Database } from '../database/client.ts';
import { readMigrations } from '../database/migrate.ts';
import { DatabaseUnavailable } from '../database/unavailable.ts';
import type { Deps, Log } from '../deps.ts';
import { kept } from '../kept.ts';
import type { Stopping } from './stopping.ts';

/** The reasons why a server is not ready. */
export type NotReady = 'stopping' | 'overloaded' | 'database' | 'migrations' | 'storage';

/** How long (ms) the results of the checks are reused, so that frequent probes cost little. */
const KEPT_MS = 1_000;
/**
 * How long (ms) the result of the storage check is reused. This is longer than for the other checks, because a storage provider may
 * charge for each request.
 */
const STORAGE_KEPT_MS = 10_000;
const STORAGE_PATIENCE_MS = 3_000;

export const HEALTHZ = '/healthz';
export const READYZ = '/readyz';

type Reachable = Pick<Deps, 'config' | 'log'> & { storage: { reach(): Promise<unknown> } };

/**
 * Serves `/healthz`, which answers 200 while the process runs, and `/readyz`, which answers 200 if the server can take calls. If
 * the server cannot, or is stopping, `/readyz` answers 503 with the reasons ({@link NotReady}), without internals.
 */
export function serveHealth(
  app: FastifyInstance,
  deps: Reachable,
  stopping: Stopping,
  { isOverloaded }: { isOverloaded(): boolean },
): void {
  const hidden = { schema: { hide: true } };
  const storage = kept(STORAGE_KEPT_MS, () => reachStorage(deps));
  // The checks use a separate connection. On the pool of calls, the checks would fail while all of the pool's connections are
  // busy. A load balancer would then move the load to the next server, which would fail in the same way, until no server is left.
  const own = connect(deps.config.databaseUrl, { name: 'health', connections: 1 });
  app.addHook('onClose', () => own.destroy());
  const look = kept(KEPT_MS, async (): Promise<NotReady[]> => {
    const [database, isStored] = await Promise.all([lookAtDatabase(own, deps.log), storage()]);
    return [...database, ...(isStored ? [] : (['storage'] as const))];
  });
  app.get(HEALTHZ, hidden, (_, reply) => reply.header('cache-control', 'no-store').send({ ok: true }));
  app.get(READYZ, hidden, async (_, reply) => {
    stopping.noteAsked();
    const missing: NotReady[] = stopping.hasBegun
      ? ['stopping']
      : isOverloaded()
        ? ['overloaded']
        : await look();
    return reply
      .status(missing.length > 0 ? 503 : 200)
      .header('cache-control', 'no-store')
      .send({ ready: missing.length === 0, missing });
  });
}

/** Reads the applied migrations, which shows that the database answers and whether it has the schema that this version needs. */
async function lookAtDatabase(database: Database, log: Log): Promise<NotReady[]> {
  try {
    const files = await readMigrations();
    const { rows } = await sql<{ name: string }>`select name from migration`.execute(database);
    const applied = new Set(rows.map(({ name }) => name));
    return files.every(({ name }) => applied.has(name)) ? [] : ['migrations'];
  } catch (error) {
    if (error instanceof DatabaseUnavailable) return ['database'];
    log.error({ err: error }, 'the migrations of the database could not be read');
    return ['migrations'];
  }
}

async function reachStorage({ storage, log }: Reachable): Promise<boolean> {
  const late = pause(STORAGE_PATIENCE_MS, undefined, { ref: false }).then(() => {
    throw new Error('the storage of the documents did not answer in time');
  });
  try {
    await Promise.race([storage.reach(), late]);
    return true;
  } catch (error) {
    log.error({ err: error }, 'the storage of the documents cannot be reached');
    return false;
  }
}
