import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import type { Config } from '../config/config.ts';
import { placeOf } from '../config/databaseUrl.ts';
import type { Log } from '../deps.ts';
import { fileFaultOf } from '../fileFault.ts';
import { openWaitingRoom, type WaitingRoom } from '../http/waitingRoom.ts';
import { connectToPrimary } from './primary.ts';
import { asUnavailable, DatabaseUnavailable } from './unavailable.ts';

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 5_000;
const ANSWER_MS = 5_000;
/**
 * If a start takes longer than this (ms), for example because of a long migration, the waiting room (http/waitingRoom.ts) opens the
 * port and answers 503. Until then the port stays closed, so that a load balancer uses other servers.
 */
const SLOW_MS = 15_000;

/**
 * Runs `start`, and retries it while the database cannot be reached. Meanwhile the waiting room answers calls with 503. Throws an
 * Error for staff at once if a setting is wrong (password, database name), and otherwise when DATABASE_WAIT_SECONDS have passed. If
 * the waiting room was opened, it is returned as `room`, and the caller must close it. `readName` returns the
 * society's name, for the waiting room.
 */
export async function whenReached<Done>(
  config: Config,
  log: Log,
  readName: () => string,
  start: () => Promise<Done>,
): Promise<{ done: Done; room: WaitingRoom | undefined }> {
  const began = performance.now();
  const waitsUntil = began + config.databaseWaitSeconds * 1_000;
  let opening: Promise<WaitingRoom> | undefined;
  const openRoom = async () => {
    opening ??= openWaitingRoom(config, log, readName());
    return opening;
  };
  // Ignores an error of the waiting room, such as a port in use: the server gets the same error when it listens.
  const slow = setTimeout(() => void openRoom().catch(() => {}), SLOW_MS);
  let hasWarned = false;
  try {
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
      const outcome = await attempt(config.databaseUrl, start);
      if ('done' in outcome) {
        const room = await opening?.catch(() => undefined);
        if (hasWarned)
          log.warn({ seconds: Math.round((performance.now() - began) / 1_000) }, 'the database was reached');
        return { done: outcome.done, room };
      }
      const reason = `The database at ${placeOf(config.databaseUrl)} cannot be reached: ${outcome.reason}.`;
      const left = waitsUntil - performance.now();
      if (left <= 0)
        throw new Error(
          `${reason} Waited ${config.databaseWaitSeconds} s for it (DATABASE_WAIT_SECONDS). Is DATABASE_URL right?`,
        );
      if (!hasWarned) {
        hasWarned = true;
        log.warn({ reason, waitSeconds: config.databaseWaitSeconds }, 'waiting for the database');
      }
      await openRoom();
      await pause(Math.min(pauseMs, left));
    }
  } finally {
    clearTimeout(slow);
  }
}

/** Runs `start` once. Returns the reason if it failed because the database cannot be reached; throws any other error. */
async function attempt<Done>(
  databaseUrl: string,
  start: () => Promise<Done>,
): Promise<{ done: Done } | { reason: string }> {
  try {
    await probe(databaseUrl);
    return { done: await start() };
  } catch (error) {
    const causes = [error, (error as { cause?: unknown } | null)?.cause];
    const fault = causes.map((cause) => faultOf(cause, databaseUrl)).find(Boolean);
    if (fault) throw new Error(fault, { cause: error });
    const away = causes.find(isAway);
    if (away) return { reason: (asUnavailable(away) as Error).message };
    throw error;
  }
}

/** Checks with a timeout that the database answers, because `start` itself has no timeout. */
async function probe(databaseUrl: string): Promise<void> {
  const { client } = await connectToPrimary(databaseUrl, {
    connectionTimeoutMillis: ANSWER_MS,
    query_timeout: ANSWER_MS,
  });
  try {
    await client.query('select');
  } finally {
    void client.end().catch(() => {});
  }
}

/** Whether an error means that the database cannot be reached at present, so that a retry may succeed. */
function isAway(error: unknown): boolean {
  if (error instanceof DatabaseUnavailable) return true;
  if (error instanceof pg.DatabaseError) return asUnavailable(error) !== error;
  if (error instanceof AggregateError) return error.errors.some(isAway);
  if (!(error instanceof Error) || fileFaultOf(error) !== null) return false;
  // System errors of sockets and DNS have a `syscall`. pg's own connection errors have no code, so their message is tested.
  const { syscall } = error as NodeJS.ErrnoException;
  return (
    syscall !== undefined || /^(timeout expired|Query read timeout|Connection terminated)/.test(error.message)
  );
}

/** Returns a sentence if a wrong DATABASE_URL caused the error, so that retries are useless; null for any other error. */
export function faultOf(error: unknown, databaseUrl: string): string | null {
  if (fileFaultOf(error) !== null) return null;
  const place = placeOf(databaseUrl);
  if (error instanceof pg.DatabaseError) {
    if (error.code?.startsWith('28'))
      return `The database at ${place} does not let us in: ${error.message}. User and password are part of DATABASE_URL.`;
    if (error.code === '3D000')
      return `DATABASE_URL names a database that ${place} does not have: ${error.message}.`;
  }
  if (error instanceof Error && /\bSSL\b|certificate|^SASL|password must be a string/.test(error.message))
    return `DATABASE_URL does not fit the database at ${place}: ${error.message}.`;
  return null;
}

/**
 * Returns a sentence for the command line if a wrong DATABASE_URL or an unreachable database caused the error; null for any other
 * error.
 */
export function sentenceOf(error: unknown, databaseUrl: string): string | null {
  const causes = [error, (error as { cause?: unknown } | null)?.cause];
  const fault = causes.map((cause) => faultOf(cause, databaseUrl)).find(Boolean);
  if (fault) return fault;
  const away = causes.find(isAway);
  return away
    ? `The database at ${placeOf(databaseUrl)} cannot be reached: ${(asUnavailable(away) as Error).message}.`
    : null;
}
