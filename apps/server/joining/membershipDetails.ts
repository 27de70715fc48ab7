import { sql } from 'kysely';
import type { Data } from '#contract/schemas.ts';
import type { Holding, JoinAccess } from '#core/holding.ts';
import { toPrice } from '#core/money.ts';
import type { OpenLine } from '#core/orderLine.ts';
import { type Holdings, isMember } from '#core/people.ts';
import { isMembershipType } from '#core/product.ts';
import { statement } from '../platform/database/statement.ts';
import { alreadyMember, joinerHoldings } from '../session/members.ts';
import { accessOf, admitted } from '../session/standing.ts';
import type { Society } from '../society/society.ts';
import { eligibilityOf, fillIn } from '../society/texts.ts';
import type { Deps } from './deps.ts';

/**
 * Returns the memberships of the session's programme, and which of them is in the order. The membership in the order is returned
 * with its price there, since choosing it a second time does not change that price.
 */
export async function membershipDetails(
  deps: Deps,
  uuid: string,
  holding: Holding,
): Promise<Data<'getMembershipDetails'>> {
  const { rows } = await readSession(deps.database, { uuid });
  const session = await admitted(deps, 'readMemberships', { uuid, holding }, rows[0]);
  if (isMember(session.joiner, 'joiner')) throw alreadyMember();
  const chosen = session.lines.find(({ type }) => isMembershipType(type));
  const { memberships, ...screen } = screenOf(deps.society, session.programme);
  return {
    ...screen,
    memberships: memberships.map((membership) =>
      membership.id === chosen?.productId ? { ...membership, price: toPrice(chosen.priceCents) } : membership,
    ),
    selectedMembershipId: chosen?.productId ?? null,
  };
}

const readSession = statement<
  { uuid: string },
  JoinAccess & { programme: string; lines: OpenLine[]; joiner: Holdings }
>(
  ({ uuid }) => sql`
    select ${accessOf('join_session')}, programme, lines, ${joinerHoldings('join_session')} as joiner
    from join_session where uuid = ${uuid}`,
);

/** Returns the texts and memberships of a programme that the screen shows. */
function screenOf(society: Society, key: string) {
  const { name, pages, refund } = society.programme(key);
  const fill = (text: string) => fillIn(text, society, key);
  return {
    memberships: society.memberships(key).map(({ id, name, priceCents, description, features }) => ({
      id,
      name,
      description,
      price: toPrice(priceCents!),
      features: features.map((text, index) => ({ id: index + 1, description: text })),
    })),
    membershipPageHeader: fill(pages.membershipHeader),
    membershipPageSubheader: fill(pages.membershipSubheader),
    refundNote: fill(refund),
    eligibility: { programme: name, ...eligibilityOf(society, key) },
  };
}
