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

/** Returns the address that signs one browser in, once, within {@link LINK_HOURS}. */
export function linkAddress(deskUrl: string, token: string): string {
  return `${deskUrl}/enter#${token}`;
}

/**
 * Makes a sign-in link for a member of staff, whom it creates if there is none of the name. Returns its token. Throws {@link Failed}
 * if the role would change, which `setRole` does, or if the access has ended, unless it `beginsAgain`.
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
 * Makes a sign-in link for an owner, whom it creates if there is none. Returns its token. For whoever starts Induct on their own
 * machine.
 */
export async function makeOwnerLink(deps: Pick<Deps, 'database' | 'actor'>): Promise<string> {
  const { rows } = await sql<{ name: string; email: string }>`
    select name, email from staff where role = 'owner' and ended_at is null order by id limit 1`.execute(
    deps.database,
  );
  return makeLink(deps, { ...(rows[0] ?? { name: 'Owner', email: 'owner@example.com' }), role: 'owner' });
}

/** Returns whose link a token is. Throws a {@link Refusal} (403) if the link does not hold any more. */
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
 * Uses a link up, by its token or the hash of it. Throws a {@link Refusal} (403) if it does not hold any more; of two who use it at once
 * one gets that.
 */
export async function takeLink(trx: Transaction<Tables>, link: string | Buffer): Promise<Staff> {
  const { rows } = await sql<Staff>`
    update staff_link set used_at = now() from staff
    where staff.id = staff_id and token_hash = ${typeof link === 'string' ? hashOf(link) : link} and used_at is null and expires_at > now() and ended_at is null
    returning staff.id, name, role`.execute(trx);
  if (!rows[0]) throw new Refusal(403, LINK_OVER);
  return rows[0];
}
