import { sql } from 'kysely';
import type { MembershipType } from '#core/product.ts';
import { wasAtHubspot } from '../contacts/followContacts.ts';
import type { Deps } from '../deps.ts';
import { presentId, type SaleRefusal, saleRefusal } from '../session/members.ts';

/** For whom a link is. */
export interface Recipient {
  /** The name and the contact's id: "Sam Okafor (contact 103)". */
  who: string;
  /** Why no link is signed for them; null if one may be. */
  refusal: string | null;
  /** Whether it is known that HubSpot has the contact: false while HubSpot cannot be asked. */
  isLookedUp: boolean;
}

interface Row {
  asked: string;
  id: string | null;
  name: string;
  isDeleted: boolean;
  isLookedUp: boolean;
  isKnown: boolean;
  sale: SaleRefusal | null;
}

const noSale: Record<MembershipType, Record<SaleRefusal, string>> = {
  membership: { 'held already': 'is a member already', 'not a member': '' },
  membership_upgrade: {
    'held already': 'has an upgrade already',
    'not a member': 'is not a member, and only members can buy an upgrade',
  },
};

/**
 * Looks up the contacts of links, up to 100 with one request to HubSpot. `sells`: what the links sell to them; null if nothing.
 * Returns the recipients in the order of `contactIds`.
 */
export async function recipientsOf(
  { contacts, database }: Pick<Deps, 'contacts' | 'database'>,
  contactIds: readonly string[],
  sells: MembershipType | null,
): Promise<Recipient[]> {
  const found = await Promise.all(contactIds.map((id) => contacts.refresh(id)));
  const { rows } = await sql<Row>`
    select asked, contact.id, concat_ws(' ', nullif(profile ->> 'firstName', ''), nullif(profile ->> 'lastName', '')) as name,
      deleted_at is not null as "isDeleted", fetched_at is not null as "isLookedUp",
      fill_at is not null or ${wasAtHubspot} or exists (select from invitation where contact_id = contact.id) as "isKnown",
      ${sells === null ? sql`null` : saleRefusal(sells, 'contact.id')} as sale
    from unnest(${contactIds}::text[]) with ordinality as given (asked, place)
      left join contact on contact.id = ${presentId(sql.ref('asked'))}
    order by place`.execute(database);
  return rows.map((row, index) => {
    const { asked, id, name, isDeleted, isLookedUp, isKnown, sale } = row;
    const now = id === null || id === asked ? '' : `, now ${id}`;
    const who = `${name ? `${name} (contact ${asked}${now})` : `contact ${asked}${now}`}`;
    const isUnknown = id === null ? found[index] === 'unknown' : !isKnown;
    const refusal = isDeleted
      ? 'was deleted in HubSpot'
      : isUnknown
        ? 'is known neither here nor to HubSpot'
        : sells !== null && sale !== null
          ? noSale[sells][sale]
          : null;
    return { who, refusal, isLookedUp };
  });
}
