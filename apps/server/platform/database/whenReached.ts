import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import type { Log } from '../../deps.ts';
import { readSociety } from '../../society/readSociety.ts';
import type { Config } from '../config.ts';
import { openWaitingRoom, type WaitingRoom } from '../http/waitingRoom.ts';
import { asUnavailable, DatabaseUnavailable } from './unavailable.ts';

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 5_000;
const ANSWER_MS = 5_000;
/** A start that takes longer (ms), as one that migrates much, is answered for meanwhile. Others leave calls to the servers beside them. */
const SLOW_MS = 15_000;

/**
 * Does what needs the database, as soon as it can be reached, and answers 503 meanwhile. Throws a sentence when the settings
 * are wrong (password, name of the database), at once, or when the wait (DATABASE_WAIT_SECONDS) is over. Where there was a
 * wait, `room` still answers, and makes room for who listens on its port.
 */
export async function whenReached<Done>(
  config: Config,
  log: Log,
  start: () => Promise<Done>,
): Promise<{ done: Done; room: WaitingRoom | undefined }> {
  const began = performance.now();
  const waitsUntil = began + config.databaseWaitSeconds * 1_000;
  let opening: Promise<WaitingRoom> | undefined;
  const openRoom = async () => {
    opening ??= openWaitingRoom(config, log, readSociety(config.societyFile).society.name);
    return opening;
  };
  // What goes wrong with it is met by the server itself, on the same address.
  const slow = setTimeout(() => void openRoom().catch(() => {}), SLOW_MS);
  let isTold = false;
  try {
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
      const outcome = await attempt(config.databaseUrl, start);
      if ('done' in outcome) {
        const room = await opening?.catch(() => undefined);
        if (isTold)
          log.warn({ seconds: Math.round((performance.now() - began) / 1_000) }, 'the database was reached');
        return { done: outcome.done, room };
      }
      const reason = `The database at ${placeOf(config.databaseUrl)} cannot be reached: ${outcome.reason}.`;
      const left = waitsUntil - performance.now();
      if (left <= 0)
        throw new Error(
          `${reason} It was waited for ${config.databaseWaitSeconds} s (DATABASE_WAIT_SECONDS); is DATABASE_URL right?`,
        );
      if (!isTold) {
        isTold = true;
        log.warn({ reason, waitSeconds: config.databaseWaitSeconds }, 'the database is waited for');
      }
      await openRoom();
      await pause(Math.min(pauseMs, left));
    }
  } finally {
    clearTimeout(slow);
  }
}

/** Throws whatever waiting does not mend. */
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

/** Asks for nothing but an answer: what follows takes as long as it takes. */
async function probe(databaseUrl: string): Promise<void> {
  const client = new pg.Client({
    connectionString: databaseUrl,
    connectionTimeoutMillis: ANSWER_MS,
    query_timeout: ANSWER_MS,
  });
  client.on('error', () => {});
  try {
    await client.connect();
    await client.query('select');
  } finally {
    void client.end().catch(() => {});
  }
}

/** Whether an error is about a database that may be there in a moment. */
function isAway(error: unknown): boolean {
  if (error instanceof DatabaseUnavailable) return true;
  if (error instanceof pg.DatabaseError) return asUnavailable(error) !== error;
  if (error instanceof AggregateError) return error.errors.some(isAway);
  if (!(error instanceof Error)) return false;
  // Node's of sockets and names; pg's own have no code.
  const { syscall } = error as NodeJS.ErrnoException;
  return (
    syscall !== undefined || /^(timeout expired|Query read timeout|Connection terminated)/.test(error.message)
  );
}

/** The sentence about a setting that no waiting mends; null when it is nothing of the kind. */
export function faultOf(error: unknown, databaseUrl: string): string | null {
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

/** What a person at the command line is told of a database that cannot be asked; null for any other error. */
export function sentenceOf(error: unknown, databaseUrl: string): string | null {
  const causes = [error, (error as { cause?: unknown } | null)?.cause];
  const fault = causes.map((cause) => faultOf(cause, databaseUrl)).find(Boolean);
  if (fault) return fault;
  const away = causes.find(isAway);
  return away
    ? `The database at ${placeOf(databaseUrl)} cannot be reached: ${(asUnavailable(away) as Error).message}.`
    : null;
}

/** Where the database is, without the password. */
function placeOf(databaseUrl: string): string {
  const { hostname, port } = new URL(databaseUrl);
  return `${hostname}:${port || 5432}`;
}
