import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'kysely';
import { Gauge, type Registry } from 'prom-client';
import { FAILURES } from '../crm/hubspot/budget.ts';
import { isAttachable } from '../documents/attachDocuments.ts';
import { kept } from '../platform/kept.ts';
import { mailServer } from '../platform/metrics.ts';
import { freeBytes } from '../providers/storage/room.ts';
import type { Deps } from './deps.ts';

/** How long values from the database are reused (ms), however often metrics are scraped. */
export const KEPT_MS = 10_000;
/** If the database takes longer than this (ms), it counts as down. Prometheus itself waits only ten seconds for the whole page. */
const PATIENCE_MS = 3_000;
/** The maximum number to which a queue is counted. */
const MOST_COUNTED = 50_000;
/**
 * A letter counts as waiting while it waits for a retry, unless its next try is further away than this interval, which is longer
 * than the longest delay before a retry (sendLetters.ts).
 */
const POSTPONED = sql`interval '5 hours'`;

/**
 * A value of the metrics. A `queue` that does not empty fires an alert after half an hour, so the number of cases that wait for
 * people is a `number`.
 */
export interface Figure {
  kind: 'queue' | 'breaker' | 'age' | 'number';
  name: string;
  value: number;
  /** How long (s) the oldest entry has waited, in a queue or for people; null for other values. */
  oldest: number | null;
  /** Since when the oldest entry has waited; null like `oldest`. */
  since: Date | null;
}

/**
 * Reads all values from the database in one statement. Each part reads the partial index of a queue, or a few rows by primary
 * key. The cost therefore depends on how much is waiting and not on the size of the tables (platform/database/plans.test.ts).
 */
export async function readFigures({ database }: Pick<Deps, 'database'>): Promise<Figure[]> {
  const waiting = (kind: Figure['kind'], name: string, rows: ReturnType<typeof sql>) => sql`
    select ${sql.lit(kind)} as kind, ${sql.lit(name)} as name, count(*)::float as value,
      coalesce(greatest(0, extract(epoch from now() - min(since))), 0)::float as oldest, min(since) as since
    from (${rows} limit ${sql.lit(MOST_COUNTED)}) as waiting`;
  const queue = (name: string, rows: ReturnType<typeof sql>) => waiting('queue', name, rows);
  const { rows } = await sql<Figure>`
    ${queue('crm', sql`select due_since as since from crm_delivery where due_at is not null and refusal is null`)}
    union all ${queue(
      'letters',
      sql`select due_at as since from letter where sent_at is null and refusal is null and withdrawn_at is null
        and next_try_at <= now() + ${POSTPONED} and due_at <= now()`,
    )}
    union all ${queue('links', sql`select created_at as since from pass_request`)}
    union all ${queue(
      'documents',
      sql`select document.created_at as since from document left join join_session on join_session.uuid = session_uuid where ${isAttachable}`,
    )}
    union all ${queue('refunds', sql`select created_at as since from refund where status = 'due'`)}
    union all ${queue('events', sql`select created_at as since from event_retry where attempts > 0`)}
    union all select 'breaker', name, case when blocked_until > now() or failures >= ${sql.lit(FAILURES)} then 1 else 0 end, null, null from crm_budget
    union all ${waiting('number', 'letters refused', sql`select next_try_at as since from letter where refusal is not null`)}
    union all ${waiting(
      'number',
      'HubSpot refused',
      sql`select due_since as since from crm_delivery where refusal is not null
        union all select created_at from document where crm_refusal is not null`,
    )}
    union all select 'age', 'events', extract(epoch from now() - reached_at), null, null from schedule where name = 'events' and reached_at is not null
    union all (select 'age', 'reconciliation', extract(epoch from now() - finished_at), null, null from reconciliation order by id desc limit 1)
    union all (select 'number', 'differences', jsonb_array_length(differences), null, null from reconciliation order by id desc limit 1)`.execute(
    database,
  );
  return rows;
}

/**
 * Registers the gauges that are read from the database and the disks. While the database does not answer, its gauges are absent,
 * and `induct_database_up` is 0. A task that has never run counts as if it ran at `startedAt`, when the process started (Unix time
 * in ms).
 */
export function registerGauges(
  registry: Registry,
  deps: Pick<Deps, 'database' | 'log' | 'config' | 'society'>,
  {
    keptMs = KEPT_MS,
    startedAt = Date.now() - process.uptime() * 1_000,
  }: { keptMs?: number; startedAt?: number } = {},
): void {
  const registers = [registry];
  const figures = kept(keptMs, async () => {
    const late = pause(PATIENCE_MS, undefined, { ref: false }).then(() => {
      throw new Error(`no answer within ${PATIENCE_MS} ms`);
    });
    const reading = readFigures(deps);
    reading.catch(() => {});
    try {
      return await Promise.race([reading, late]);
    } catch (error) {
      deps.log.warn({ reason: (error as Error).message }, 'the database could not be asked for metrics');
      return null;
    }
  });
  /**
   * Registers a gauge. It has one sample (labels and value) for each figure for which `read` does not return null. A gauge
   * without samples is absent from the page instead of 0.
   */
  const gauge = (
    name: string,
    help: string,
    labelNames: string[],
    read: (figure: Figure) => [labels: Record<string, string>, value: number] | null,
  ) =>
    new Gauge({
      name,
      help,
      labelNames,
      registers,
      async collect() {
        this.reset();
        // `reset` sets a gauge without labels to 0; `remove` makes it absent.
        if (labelNames.length === 0) this.remove();
        for (const figure of (await figures()) ?? []) {
          const sample = read(figure);
          if (sample) this.set(...sample);
        }
      },
    });
  const single = (name: string, help: string, kind: Figure['kind'], wanted: string) =>
    gauge(name, help, [], (figure) =>
      figure.kind === kind && figure.name === wanted ? [{}, figure.value] : null,
    );
  const age = (name: string, help: string, wanted: string) =>
    new Gauge({
      name,
      help,
      registers,
      async collect() {
        this.remove();
        const known = await figures();
        if (known === null) return;
        const figure = known.find((each) => each.kind === 'age' && each.name === wanted);
        this.set(figure?.value ?? (Date.now() - startedAt) / 1_000);
      },
    });
  gauge('induct_queue_size', 'What waits in the background, by queue.', ['queue'], ({ kind, name, value }) =>
    kind === 'queue' ? [{ queue: name }, value] : null,
  );
  gauge(
    'induct_queue_oldest_seconds',
    'For how long the oldest of a queue has waited.',
    ['queue'],
    ({ kind, name, oldest }) => (kind === 'queue' && oldest !== null ? [{ queue: name }, oldest] : null),
  );
  gauge(
    'induct_breaker_open',
    '1 while a provider is left alone: HubSpot after failures or by its limits, for all processes; the mail server by this one.',
    ['provider', 'kind'],
    ({ kind, name, value }) => {
      if (kind === 'breaker') return [{ provider: 'hubspot', kind: name }, value];
      // The mail server counts as down only while a letter is waiting. Without a waiting letter the server is not used, so nobody
      // knows whether it is still down, and the value is 0.
      if (kind === 'queue' && name === 'letters')
        return [{ provider: 'mail', kind: 'send' }, mailServer.isDown && value > 0 ? 1 : 0];
      return null;
    },
  );
  single(
    'induct_letters_refused',
    'Letters that are not sent until staff say so.',
    'number',
    'letters refused',
  );
  age(
    'induct_events_fetched_seconds',
    "Since Stripe's events were last fetched; before the first time, since the process started.",
    'events',
  );
  age(
    'induct_reconciliation_age_seconds',
    'Since the last reconciliation; before the first one, since the process started.',
    'reconciliation',
  );
  single(
    'induct_reconciliation_differences',
    'In how many places money and members differed at the last reconciliation.',
    'number',
    'differences',
  );
  new Gauge({
    name: 'induct_database_up',
    help: '1 while the database answers.',
    registers,
    async collect() {
      this.set((await figures()) === null ? 0 : 1);
    },
  });

  const { storage, dataDir, storageReserveBytes } = deps.config;
  const folders = { data: dataDir, ...(storage.kind === 'folder' && { documents: storage.folder }) };
  new Gauge({
    name: 'induct_disk_free_bytes',
    help: 'What is left of the disk of a folder.',
    labelNames: ['folder'] as const,
    registers,
    async collect() {
      this.reset();
      for (const [folder, path] of Object.entries(folders)) {
        const free = await freeBytes(path).catch(() => null);
        if (free !== null) this.set({ folder }, free);
      }
    },
  });
  new Gauge({
    name: 'induct_disk_reserve_bytes',
    help: 'What stays free of it: uploads are refused before (STORAGE_RESERVE_BYTES).',
    registers,
  }).set(storageReserveBytes);
}
