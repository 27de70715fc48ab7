import { parseCookie, stringifySetCookie } from 'cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { sql, type Transaction } from 'kysely';
import { SESSION_HOURS, SESSION_IDLE_HOURS } from '#core/staff.ts';
import type { Database } from '../platform/database/client.ts';
import type { Tables } from '../platform/database/types.ts';
import type { Staff } from './links.ts';
import { hashOf, newToken } from './tokens.ts';

/** The cookie's name. Browsers accept a cookie with this prefix only over https, for this host alone, and for all paths. */
const SECURE_NAME = '__Host-desk';
/** The cookie's name on localhost, which has no https. */
const PLAIN_NAME = 'desk';

function nameOf(deskUrl: string): string {
  return deskUrl.startsWith('https:') ? SECURE_NAME : PLAIN_NAME;
}

/** Begins a session. Returns its token, which {@link giveCookie} gives to the browser. */
export async function beginSession(trx: Transaction<Tables>, { id }: Staff): Promise<string> {
  const token = newToken();
  await sql`insert into staff_session (token_hash, staff_id) values (${hashOf(token)}, ${id})`.execute(trx);
  await sql`update staff set last_seen_at = now() where id = ${id}`.execute(trx);
  await sql`delete from staff_session where created_at < now() - make_interval(hours => ${SESSION_HOURS})`.execute(
    trx,
  );
  return token;
}

export function giveCookie(reply: FastifyReply, deskUrl: string, token: string): void {
  setCookie(reply, deskUrl, token, SESSION_HOURS * 3_600);
}

export function takeCookie(reply: FastifyReply, deskUrl: string): void {
  setCookie(reply, deskUrl, '', 0);
}

function setCookie(reply: FastifyReply, deskUrl: string, value: string, maxAge: number): void {
  const secure = deskUrl.startsWith('https:');
  void reply.header(
    'set-cookie',
    stringifySetCookie({
      name: nameOf(deskUrl),
      value,
      httpOnly: true,
      secure,
      sameSite: 'strict',
      path: '/',
      maxAge,
    }),
  );
}

/** Returns the token of a browser's session; null if it has none. */
export function tokenOf(request: FastifyRequest, deskUrl: string): string | null {
  return parseCookie(request.headers.cookie ?? '')[nameOf(deskUrl)] || null;
}

/**
 * Returns the member of staff to whom a session belongs, and records the session's use, at most once a minute. Null if the
 * session or their access has ended.
 */
export async function readSession(database: Database, token: string): Promise<Staff | null> {
  const hash = hashOf(token);
  const { rows } = await sql<Staff>`
    with found as (
      select token_hash, staff.id, name, role, seen_at from staff_session join staff on staff.id = staff_id
      where token_hash = ${hash} and ended_at is null
        and seen_at > now() - make_interval(hours => ${SESSION_IDLE_HOURS})
        and staff_session.created_at > now() - make_interval(hours => ${SESSION_HOURS})
    ), noted as (
      update staff_session set seen_at = now() from found
      where staff_session.token_hash = found.token_hash and found.seen_at < now() - interval '1 minute'
      returning staff_id
    ), seen as (update staff set last_seen_at = now() where id in (select staff_id from noted))
    select id, name, role from found`.execute(database);
  return rows[0] ?? null;
}

/** Ends a session; with `everywhere`, all sessions of its member of staff. */
export async function endSession(database: Database, token: string, everywhere: boolean): Promise<void> {
  await sql`
    delete from staff_session where token_hash = ${hashOf(token)}
      or (${everywhere} and staff_id = (select staff_id from staff_session where token_hash = ${hashOf(token)}))`.execute(
    database,
  );
}
