import { sql } from 'kysely';
import type { Database } from '../database/client.ts';
import type { Log } from '../deps.ts';
import type { CallFailure } from '../stripe/failures.ts';

/** Staff are told of one cause so often (ms). */
const EVERY_MS = 3_600_000;

/**
 * Logs every call that Stripe did not do, and tells staff of those that it refuses until somebody puts something right, once
 * for each cause and hour over all processes. Never throws: the call fails anyway, and its joiner is to read why.
 */
export function stripeFailures(
  database: Database,
  log: Log,
  now: () => Date,
): (failure: CallFailure) => Promise<void> {
  /** So that a key that was rolled does not cost every joiner's call a transaction. */
  const toldAt = new Map<string, number>();
  return async (failure) => {
    const { isRefusal, ...told } = failure;
    if (!isRefusal) {
      log.warn(told, 'Stripe did not do a call');
      return;
    }
    log.error(told, 'Stripe refused a call');
    const cause = causeOf(failure);
    const at = now().getTime();
    if (at - (toldAt.get(cause) ?? Number.NEGATIVE_INFINITY) < EVERY_MS) return;
    try {
      await tellOncePerHour(database, cause, remedyOf(failure));
      toldAt.set(cause, at);
    } catch (error) {
      log.error({ err: error }, 'staff could not be told of a refusal of Stripe');
    }
  };
}

/** One process after the other: the second one finds what the first wrote. */
async function tellOncePerHour(database: Database, cause: string, remedy: string): Promise<void> {
  await database.transaction().execute(async (trx) => {
    await sql`select pg_advisory_xact_lock(hashtextextended('stripe refused', 0))`.execute(trx);
    await sql`
      insert into staff_notice (kind, message)
      select 'stripe_refused', ${`${cause} ${remedy}`}
      where not exists (
        select from staff_notice where kind = 'stripe_refused' and starts_with(message, ${cause})
          and created_at > now() - make_interval(secs => ${EVERY_MS / 1000}))`.execute(trx);
  });
}

function causeOf({ call, status, code, param }: CallFailure): string {
  const what = [code, param && `parameter ${param}`].filter(Boolean).join(', ');
  return `Stripe refuses ${call} with ${status}${what && ` (${what})`}.`;
}

/** `said` names the permission that a restricted key lacks. */
function remedyOf({ status, said, requestId }: CallFailure): string {
  const where = requestId === null ? '' : ` The request is ${requestId} in Stripe's log.`;
  switch (status) {
    case 401:
      return `${said} Until STRIPE_SECRET_KEY is one that Stripe takes, nobody can pay: npm run operator -- doctor.${where}`;
    case 403:
      return `${said} Give the key that permission at Stripe: npm run operator -- doctor.${where}`;
    default:
      return `What needs this call fails until it is put right: npm run operator -- doctor.${where}`;
  }
}
