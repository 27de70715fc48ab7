import { sql } from 'kysely';
import type { Data } from '#contract/schemas.ts';
import { toPrice } from '#core/money.ts';
import type { OpenLine } from '#core/orderLine.ts';
import { isMembershipType } from '#core/product.ts';
import type { Deps } from '../deps.ts';
import { Refusal } from '../http/refusal.ts';
import { stateAllows, whyNot } from '../join/standing.ts';
import { eligibilityOf, fillIn } from '../society.ts';
import { ALREADY_MEMBER } from './alreadyMember.ts';

/** What a session knows for its membership screen: read with `sessionColumns` from a row of `join_session`. */
export interface SessionMembership {
  programme: string;
  lines: OpenLine[];
  is_member: boolean;
}

/** Whether the session's contact has bought a membership and holds it still. */
export const isMember = sql<boolean>`exists (
      select from membership where membership.contact_id = join_session.contact_id and type = 'membership' and is_held
    )`;

export const sessionColumns = sql`programme, lines, ${isMember} as is_member`;

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
  const { name, pages, refund } = deps.society.programme(session.programme);
  const fill = (text: string) => fillIn(text, deps.society, session.programme);
  return {
    memberships: deps.society
      .memberships(session.programme)
      .map(({ id, name, price, description, features }) => ({
        id,
        name,
        description,
        price: toPrice(price!),
        features: features.map((text, index) => ({ id: index + 1, description: text })),
      })),
    selectedMembershipId: session.lines.find(({ type }) => isMembershipType(type))?.productId ?? null,
    membershipPageHeader: fill(pages.membershipHeader),
    membershipPageSubheader: fill(pages.membershipSubheader),
    refundNote: fill(refund),
    eligibility: { programme: name, ...eligibilityOf(deps.society, session.programme) },
  };
}
