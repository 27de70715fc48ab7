import { sql } from 'kysely';
import { endNotices, notifyStaff } from '../letters/notifyStaff.ts';
import { repeat } from '../platform/background.ts';
import { takeTurn } from '../platform/database/schedule.ts';
import { forgetCounts } from '../platform/http/limits.ts';
import { GUESSES } from './codeAttempts.ts';
import type { Deps } from './deps.ts';

const INTERVAL_MS = 15_000;
const FORGET_EVERY_SECONDS = 3_600;
/** An address is reported to staff once it has tried this share of the wrong codes that it may try. */
const NOTED_SHARE = 0.25;

/** Writes notices while guessing continues, in only one of the processes, and deletes old counts. */
export function startWatchingGuesses(deps: Deps): () => Promise<void> {
  return repeat('watch for guessed codes', INTERVAL_MS, deps.log, async () => {
    if (await takeTurn(deps.database, 'guesses', INTERVAL_MS / 1000)) await notifyOfGuessing(deps);
    if (await takeTurn(deps.database, 'limit counts', FORGET_EVERY_SECONDS))
      await forgetCounts(deps.database, deps.config.limits);
  });
}

/**
 * Writes a notice, at most one an hour, about the guesses of the last hour in two cases: one address has tried a quarter of the
 * wrong codes that an address may try, or all addresses together have tried as many as one address may. The notice contains
 * counts, and identifies an address only by its keyed hash.
 */
export async function notifyOfGuessing(deps: Deps): Promise<void> {
  const limit = deps.config.limits?.wrongCodesPerAddress;
  if (!limit) return;
  const { rows } = await sql<{ key: string; count: number; total: number; addresses: number }>`
    select key, sum(count)::int as count, (sum(sum(count)) over ())::int as total, (count(*) over ())::int as addresses
    from limit_count where name = any(${GUESSES}) and window_start > now() - interval '1 hour'
    group by key having sum(count) > 0 order by 2 desc limit 1`.execute(deps.database);
  const most = rows[0];
  if (!most || (most.count < limit.count * NOTED_SHARE && most.total < limit.count)) return;
  const { rows: told } = await sql`
    select from staff_notice where kind = 'guessing' and last_seen_at > now() - interval '1 hour'`.execute(
    deps.database,
  );
  if (told.length > 0) return;
  await endNotices(deps.database, ['guessing']);
  await notifyStaff(deps.database, {
    kind: 'guessing',
    subject: null,
    params: {
      total: most.total,
      addresses: most.addresses,
      most: most.count,
      hash: most.key.slice(0, 8),
      limit: { count: limit.count, minutes: limit.minutes },
    },
    remedy: { do: 'doctor' },
  });
}
