import { sql } from 'kysely';
import { type Holdings, type SaleRefusal, saleRefusal } from '#core/people.ts';
import type { MembershipType } from '#core/product.ts';
import { isRecordId } from '../../crm/contacts.ts';
import { lookAtContacts, wasAtHubspot } from '../../crm/followContacts.ts';
import { CrmRefused, CrmUnavailable } from '../../crm/hubspot/errors.ts';
import { holdings, personOf } from '../../session/members.ts';
import type { Deps } from '../deps.ts';

/** The recipient of a link. */
export interface Recipient {
  /** The name and the contact's id: "Sam Okafor (contact 103)". */
  who: string;
  /** Why no link may be signed for them; null if a link may be signed. */
  refusal: string | null;
  /**
   * Whether HubSpot was asked about the contact, or its id cannot be an id of HubSpot. If not, `refusal` is based on the mirror
   * alone.
   */
  isLookedUp: boolean;
}

interface Row {
  given: string;
  id: string | null;
  name: string;
  isDeleted: boolean;
  /** Whether HubSpot once had the contact, or an import named it. */
  isKnown: boolean;
  holdings: Holdings | null;
}

const noSale: Record<MembershipType, Record<SaleRefusal, string>> = {
  membership: { 'held already': 'is a member already', 'not a member': '' },
  membership_upgrade: {
    'held already': 'has an upgrade already',
    'not a member': 'is not a member, and only members can buy an upgrade',
  },
};

/**
 * Looks up the contacts of links at HubSpot, with one request for up to 100. `sells`: what the links sell to them; null if
 * nothing. Returns the recipients in the order of `contactIds`.
 */
export async function recipientsOf(
  deps: Pick<Deps, 'database' | 'hubspot' | 'society'>,
  contactIds: readonly string[],
  sells: MembershipType | null,
): Promise<Recipient[]> {
  const ids = [...new Set(contactIds)].filter(isRecordId);
  const isAsked = await lookAtContacts(deps, ids).then(
    () => true,
    (error: unknown) => {
      if (error instanceof CrmUnavailable || error instanceof CrmRefused) return false;
      throw error;
    },
  );
  const { rows } = await sql<Row>`
    select given, person.contact_id as id, concat_ws(' ', nullif(profile ->> 'firstName', ''), nullif(profile ->> 'lastName', '')) as name,
      deleted_at is not null as "isDeleted",
      ${wasAtHubspot} or exists (select from invitation where person_id = person.id) as "isKnown",
      ${holdings('person.id')} as holdings
    from unnest(${contactIds}::text[]) with ordinality as contacts (given, place)
      left join person on person.id = ${personOf('given')}
    order by place`.execute(deps.database);
  return rows.map((row) => {
    const { given, id, name } = row;
    const contact = id === null || id === given ? `contact ${given}` : `contact ${given}, now ${id}`;
    const isLookedUp = isAsked || !isRecordId(given);
    return {
      who: name ? `${name} (${contact})` : contact,
      refusal: refusalOf(row, sells, isLookedUp),
      isLookedUp,
    };
  });
}

function refusalOf(
  { id, isDeleted, isKnown, holdings: held }: Row,
  sells: MembershipType | null,
  isLookedUp: boolean,
): string | null {
  if (isDeleted) return 'was deleted in HubSpot';
  if (isLookedUp && (id === null || !isKnown)) return 'is known neither here nor to HubSpot';
  if (sells === null || held === null) return null;
  const sale = saleRefusal(sells, held, 'code');
  // Only HubSpot knows all members. Without its answer, nobody is refused for not being a member.
  if (sale === null || (sale === 'not a member' && !isLookedUp)) return null;
  return noSale[sells][sale];
}
