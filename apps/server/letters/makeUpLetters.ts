import { sql } from 'kysely';
import type { Deps } from '../deps.ts';
import { dueLetters } from './dueLetters.ts';
import { lettersOfSale, type Sold } from './lettersOfSale.ts';

/** The most memberships that one call handles. */
const BATCH = 100;

/**
 * Makes letters due for memberships that a server of an earlier version sold during a rolling update, because that version makes
 * no letters due. The current version does so in the sale itself (payments/confirmPayment.ts).
 */
export async function makeUpLetters(deps: Deps): Promise<void> {
  const { rows: missed } = await sql`select from membership where not has_letters limit 1`.execute(
    deps.database,
  );
  if (missed.length === 0) return;
  await deps.database.transaction().execute(async (trx) => {
    const { rows } = await sql<Sold>`
      with missed as (
        update membership set has_letters = true
        where id in (select id from membership where not has_letters order by id limit ${BATCH} for update skip locked)
        returning session_uuid, payment_intent, type
      )
      select session_uuid as "sessionUuid", payment_intent as "intentId", missed.type, programme,
        origin = 'self_nomination' as "isSelfNomination"
      from missed join join_session on uuid = session_uuid`.execute(trx);
    await dueLetters(
      trx,
      deps,
      rows.flatMap((sold) => lettersOfSale(deps.society, sold)),
    );
  });
}
