import { sql, type Transaction } from 'kysely';
import { accountRefusals, LINK_HOURS, type StaffRole } from '#core/staff.ts';
import { transaction } from '../platform/database/transaction.ts';
import type { Tables } from '../platform/database/types.ts';
import { Failed } from '../platform/failed.ts';
import { Refusal } from '../platform/http/refusal.ts';
import type { Deps } from './deps.ts';
import { hashOf, newToken } from './tokens.ts';

/** A member of staff. */
export interface Staff {
  id: string;
  name: string;
  role: StaffRole;
}

export const LINK_OVER = accountRefusals.link;

/** Returns the URL of a sign-in link. It works once, in one browser, within {@link LINK_HOURS}. */
export function linkAddress(deskUrl: string, token: string): string {
  return `${deskUrl}/enter#${token}`;
}

/**
 * Makes a sign-in link for a member of staff, and returns its token. Creates the member of staff if nobody has this name. Throws
 * {@link Failed} if their role is another one (`setRole` changes roles), or if their access has ended. With `beginsAgain`, gives
 * them access again, with `role`.
 */
export async function makeLink(
  deps: Pick<Deps, 'database' | 'actor'>,
  { name, email, role }: { name: string; email: string; role: StaffRole },
  { beginsAgain = false } = {},
): Promise<string> {
  const token = newToken();
  await transaction(deps, async (trx) => {
    if (beginsAgain)
      await sql`
        update staff set ended_at = null, role = ${role} where name = ${name} and ended_at is not null`.execute(
        trx,
      );
    const { rows } = await sql<Staff & { hasEnded: boolean }>`
      insert into staff (name, email, role) values (${name}, ${email}, ${role})
      on conflict (name) do update set email = excluded.email
      returning id, name, role, ended_at is not null as "hasEnded"`.execute(trx);
    const [staff] = rows;
    if (staff!.hasEnded) throw new Failed(`The access of ${name} has ended.`);
    if (staff!.role !== role) throw new Failed(`${name} has the role ${staff!.role}, not ${role}.`);
    await sql`
      insert into staff_link (token_hash, staff_id, expires_at, made_by)
      values (${hashOf(token)}, ${staff!.id}, now() + make_interval(hours => ${LINK_HOURS}), ${deps.actor})`.execute(
      trx,
    );
  });
  return token;
}

/**
 * Makes a sign-in link for an owner, and returns its token. Creates an owner if there is none. Used when somebody starts Induct
 * on their own machine.
 */
export async function makeOwnerLink(deps: Pick<Deps, 'database' | 'actor'>): Promise<string> {
  const { rows } = await sql<{ name: string; email: string }>`
    select name, email from staff where role = 'owner' and ended_at is null order by id limit 1`.execute(
    deps.database,
  );
  return makeLink(deps, { ...(rows[0] ?? { name: 'Owner', email: 'owner@example.com' }), role: 'owner' });
}

/** Returns the member of staff to whom a link belongs. Throws a {@link Refusal} (403) if the link was used or has expired. */
export async function readLink({ database }: Pick<Deps, 'database'>, token: string): Promise<Staff> {
  const { rows } = await sql<Staff>`
    select staff.id, name, role from staff_link join staff on staff.id = staff_id
    where token_hash = ${hashOf(token)} and used_at is null and expires_at > now() and ended_at is null`.execute(
    database,
  );
  if (!rows[0]) throw new Refusal(403, LINK_OVER);
  return rows[0];
}

/**
 * Marks a link as used, by its token or the token's hash. Throws a {@link Refusal} (403) if the link was used or has expired. If
 * two callers use it at the same time, one of them gets this refusal.
 */
export async function takeLink(trx: Transaction<Tables>, link: string | Buffer): Promise<Staff> {
  const { rows } = await sql<Staff>`
    update staff_link set used_at = now() from staff
    where staff.id = staff_id and token_hash = ${typeof link === 'string' ? hashOf(link) : link} and used_at is null and expires_at > now() and ended_at is null
    returning staff.id, name, role`.execute(trx);
  if (!rows[0]) throw new Refusal(403, LINK_OVER);
  return rows[0];
}
