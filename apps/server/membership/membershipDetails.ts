import { sql } from 'kysely';
import type { Data } from '#contract/schemas.ts';
import { toPrice } from '#core/money.ts';
import type { OpenLine } from '#core/orderLine.ts';
import { isMembershipType } from '#core/product.ts';
import type { Deps } from '../deps.ts';
import { Refusal } from '../http/refusal.ts';
import { stateAllows, whyNot } from '../join/standing.ts';
import { isMemberNow } from '../session/isMemberNow.ts';
import { eligibilityOf, fillIn, type Society } from '../society.ts';
import { ALREADY_MEMBER } from './alreadyMember.ts';

/** What a session knows for its membership screen: read with `sessionColumns` from a row of `join_session`. */
export interface SessionMembership {
  programme: string;
  lines: OpenLine[];
  is_member: boolean;
}

export const sessionColumns = sql`programme, lines, ${isMemberNow('join_session.contact_id')} as is_member`;

/** The memberships of the session's programme, and the one chosen. */
export async function membershipDetails(deps: Deps, uuid: string): Promise<Data<'getMembershipDetails'>> {
  const { rows } = await sql<SessionMembership>`
    select ${sessionColumns} from join_session where uuid = ${uuid} and ${stateAllows('readMemberships')}`.execute(
    deps.database,
  );
  const session = rows[0];
  if (!session) throw await whyNot(deps, 'readMemberships', uuid);
  if (session.is_member) throw new Refusal(409, ALREADY_MEMBER);
  return detailsOf(deps, session);
}

export function detailsOf(
  deps: Deps,
  session: Omit<SessionMembership, 'is_member'>,
): Data<'getMembershipDetails'> {
  const chosen = session.lines.find(({ type }) => isMembershipType(type));
  return { ...writeScreen(deps.society, session.programme), selectedMembershipId: chosen?.productId ?? null };
}

/** What the screen says of a programme, the same for everybody. */
function writeScreen(society: Society, key: string) {
  const { name, pages, refund } = society.programme(key);
  const fill = (text: string) => fillIn(text, society, key);
  return {
    memberships: society.memberships(key).map(({ id, name, price, description, features }) => ({
      id,
      name,
      description,
      price: toPrice(price!),
      features: features.map((text, index) => ({ id: index + 1, description: text })),
    })),
    membershipPageHeader: fill(pages.membershipHeader),
    membershipPageSubheader: fill(pages.membershipSubheader),
    refundNote: fill(refund),
    eligibility: { programme: name, ...eligibilityOf(society, key) },
  };
}
