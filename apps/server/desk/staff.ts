import { type Kysely, sql } from 'kysely';
import type { StaffRole } from '#core/staff.ts';
import { transaction } from '../platform/database/transaction.ts';
import type { Tables } from '../platform/database/types.ts';
import { Failed } from '../platform/failed.ts';
import type { Deps } from './deps.ts';

/** A member of staff, as owners see them. */
export interface StaffShown {
  id: number;
  name: string;
  email: string;
  role: StaffRole;
  passkeys: number;
  lastSeenAt: Date | null;
  /** When an owner ended their access; null if nobody did. */
  endedAt: Date | null;
}

export const NO_STAFF = 'There is no such member of staff.';
const LAST_OWNER = 'is the last owner. Make somebody else an owner first.';

/** Returns everybody who has or had access to the desk; those who still have access come first. */
export async function listStaff(
  { database }: { database: Kysely<Tables> },
  id: number | null = null,
): Promise<StaffShown[]> {
  const { rows } = await sql<StaffShown>`
    select id::int, name, email, role, last_seen_at as "lastSeenAt", ended_at as "endedAt",
      (select count(*)::int from staff_passkey where staff_id = staff.id) as passkeys
    from staff where id = ${id} or ${id}::bigint is null order by ended_at is not null, name`.execute(
    database,
  );
  return rows;
}

/** Returns a member of staff who has access. Throws {@link Failed} if nobody with this id has access. */
export async function presentStaff(deps: { database: Kysely<Tables> }, id: number): Promise<StaffShown> {
  const [found] = await listStaff(deps, id);
  if (!found) throw new Failed(NO_STAFF);
  if (found.endedAt) throw new Failed(`The access of ${found.name} has ended.`);
  return found;
}

/** Throws {@link Failed} if this person is the only owner. If `database` is a transaction, locks the owners. */
export async function requireOtherOwner(
  database: Kysely<Tables>,
  { id, name }: Pick<StaffShown, 'id' | 'name'>,
): Promise<void> {
  const { rows } = await sql<{ id: number }>`
    select id::int from staff where role = 'owner' and ended_at is null for update`.execute(database);
  if (rows.every((owner) => owner.id === id)) throw new Failed(`${name} ${LAST_OWNER}`);
}

/**
 * Changes the role of a member of staff, with effect from their next call. Throws {@link Failed}, for example for the last owner.
 */
export async function setRole(
  deps: Pick<Deps, 'database' | 'actor'>,
  id: number,
  { from, to }: { from: StaffRole; to: StaffRole },
): Promise<void> {
  await transaction(deps, async (trx) => {
    const staff = await presentStaff({ database: trx }, id);
    if (from === 'owner') await requireOtherOwner(trx, staff);
    const { rows } = await sql`
      update staff set role = ${to} where id = ${id} and role = ${from} and ended_at is null returning id`.execute(
      trx,
    );
    if (rows.length === 0) throw new Failed(`${staff.name} has another role by now.`);
  });
}

/**
 * Ends the access of a member of staff at once, with their sessions, passkeys, bound accounts and unused links. Throws {@link
 * Failed}, for example for the last owner.
 */
export async function endAccess(deps: Pick<Deps, 'database' | 'actor'>, id: number): Promise<void> {
  await transaction(deps, async (trx) => {
    const staff = await presentStaff({ database: trx }, id);
    if (staff.role === 'owner') await requireOtherOwner(trx, staff);
    await sql`update staff set ended_at = now() where id = ${id}`.execute(trx);
    await sql`delete from staff_session where staff_id = ${id}`.execute(trx);
    await sql`delete from staff_passkey where staff_id = ${id}`.execute(trx);
    await sql`delete from staff_identity where staff_id = ${id}`.execute(trx);
    await sql`delete from staff_link where staff_id = ${id} and used_at is null`.execute(trx);
  });
}
