import { sql } from 'kysely';
import { statesAllowing } from '#core/joinSession.ts';
import type { Deps } from '../deps.ts';
import { Refusal } from '../http/refusal.ts';
import { whyNot } from '../join/standing.ts';
import { whileFrozen } from '../payments/settlePaying.ts';
import { ALREADY_MEMBER } from './alreadyMember.ts';

const NOT_ON_OFFER = 'This membership is not on offer. Please choose one of those shown.';

/** Chooses or changes the membership. Choosing the one already chosen changes nothing, not even its price. */
export async function setMembership(deps: Deps, uuid: string, membershipId: number): Promise<void> {
  const product = deps.society.product(membershipId);
  if (product?.type !== 'membership') throw new Refusal(404, NOT_ON_OFFER);
  const choose = async () => {
    const { rows } = await sql<{ programme_fits: boolean; is_member: boolean }>`
    with session as (
      select uuid, programme = ${product.programme!} as programme_fits, exists (
        select from membership where membership.contact_id = join_session.contact_id and type = 'membership' and is_held
      ) as is_member
      from join_session where uuid = ${uuid} and state = any(${statesAllowing('setMembership')}) for update
    ), chosen as (
      insert into session_product (session_uuid, product_id, type, name, price_cents)
      select uuid, ${product.id}, ${product.type}, ${product.name}, ${product.price!} from session where programme_fits and not is_member
      on conflict (session_uuid, slot) where removed_at is null
      do update set uuid = gen_random_uuid(), product_id = excluded.product_id, type = excluded.type,
        name = excluded.name, price_cents = excluded.price_cents
      where session_product.product_id <> excluded.product_id
      returning session_uuid
    ), moved as (
      update join_session set state = 'ordering', updated_at = now(),
        revision = revision + (select count(*)::int from chosen)
      where uuid in (select uuid from session where programme_fits and not is_member)
    )
    select programme_fits, is_member from session`.execute(deps.database);
    return rows[0];
  };
  const session = await whileFrozen(deps, uuid, choose);
  if (!session) throw await whyNot(deps, 'setMembership', uuid);
  if (!session.programme_fits) throw new Refusal(404, NOT_ON_OFFER);
  if (session.is_member) throw new Refusal(409, ALREADY_MEMBER);
}
