import { sql } from 'kysely';
import { displayPrice } from '#core/money.ts';
import { type Holdings, saleRefusal } from '#core/people.ts';
import { floorOf, HIGHEST_OVERRIDE_CENTS, salePrice } from '#core/price.ts';
import { isMembershipType } from '#core/product.ts';
import { fallback } from '#core/sentences.ts';
import { cannotLookUp, linkedContact } from '../crm/linkedContact.ts';
import { partUnproven } from '../crm/partUnproven.ts';
import { TOO_MANY } from '../platform/http/limits.ts';
import { Refusal } from '../platform/http/refusal.ts';
import type { LinkSignature } from '../session/links.ts';
import { holdings, personOf, refusedSale } from '../session/members.ts';
import { firstLine, lineOf } from '../session/orderLines.ts';
import type { Deps } from './deps.ts';

const NOT_SOLD_HERE = 'This product cannot be bought with this link.';
const NOT_AN_UPGRADE = 'The offer in this link is not an upgrade.';

/**
 * Starts a checkout from a link, without student details.
 * - `mainProductId`: the product to sell; by default the default membership.
 * - `upsellProductId`: the upgrade to offer.
 * - `overrideMainPriceCents`: the product's price, from its floor in the catalogue to {@link HIGHEST_OVERRIDE_CENTS}.
 *
 * Memberships are sold only to non-members, upgrades only to members. Nothing is sold to a contact that was deleted in HubSpot,
 * because without student details nobody would know who has paid.
 */
export async function initiateCheckout(
  deps: Deps,
  given: {
    hubspotContactId: string;
    mainProductId?: number | null | undefined;
    upsellProductId?: number | null | undefined;
    overrideMainPriceCents?: number | null | undefined;
    signature: LinkSignature;
    address: string;
  },
): Promise<{ uuid: string; programme: string }> {
  const {
    hubspotContactId: contactId,
    mainProductId,
    upsellProductId,
    overrideMainPriceCents: override,
  } = given;
  const parameters = Object.fromEntries(
    Object.entries({ mp: mainProductId, usp: upsellProductId, c: override }).flatMap(([key, value]) =>
      value == null ? [] : [[key, String(value)]],
    ),
  );
  const link = deps.links.check({ kind: 'checkout', contactId, parameters }, given.signature);

  const { society } = deps;
  const product = society.linkOffer(
    mainProductId ?? society.programme(society.defaultProgramme).defaultMembership,
  );
  if (!product || !isMembershipType(product.type)) throw new Refusal(404, NOT_SOLD_HERE);
  if (upsellProductId != null && society.product(upsellProductId)?.type !== 'membership_upgrade')
    throw new Refusal(404, NOT_AN_UPGRADE);
  const priceCents = salePrice(product, override);
  if (priceCents === 'too low')
    throw new Refusal(
      400,
      `The price in this link is too low: ${product.name} costs at least ${displayPrice(floorOf(product))}.`,
    );
  if (priceCents === 'too high')
    throw new Refusal(
      400,
      `The price in this link is too high: the most is ${displayPrice(HIGHEST_OVERRIDE_CENTS)}.`,
    );
  const found = await linkedContact(deps, contactId, link, fallback.initiateCheckout);
  // Only HubSpot knows all members. If it does not answer, an upgrade might be refused to a member, so the joiner is asked to try
  // later.
  const isUpgrade = product.type === 'membership_upgrade';
  if (isUpgrade && found === 'unavailable') throw cannotLookUp();

  const { rows: persons } = await sql<{
    id: number;
    holdings: Holdings;
  }>`
    select id, ${holdings('person.id')} as holdings from person
    where id = ${personOf(sql`${contactId}`)} and deleted_at is null`.execute(deps.database);
  const [person] = persons;
  if (!person) throw new Refusal(404, fallback.initiateCheckout);
  const refusal = saleRefusal(product.type, person.holdings, 'code');
  if (refusal) throw refusedSale(refusal);
  const addressHash = deps.hashAddress(given.address);
  const limit = deps.config.limits?.joinsPerAddress;
  const isUnderLimit = limit
    ? sql`(select count(*) from (
        select from join_session where address_hash = ${addressHash}
        and created_at > now() - make_interval(mins => ${limit.minutes}) limit ${limit.count}) recent) < ${limit.count}`
    : sql`true`;
  const { rows } = await sql<{ uuid: string }>`
    with started as (
      insert into join_session (state, origin, programme, person_id, upsell_product_id, revision, lines, address_hash)
      select 'ordering', 'checkout', ${product.programme!}, ${person.id}, ${upsellProductId ?? null}::int, 1, ${firstLine(lineOf(product, priceCents))}::jsonb, ${addressHash}
      where ${isUnderLimit}
      returning uuid, revision, lines
    ), told as (
      insert into join_event (session_uuid, step, cause, detail)
      select uuid, 'order_changed', 'joiner', jsonb_build_object('revision', revision, 'lines', lines) from started
    )
    select uuid from started`.execute(deps.database);
  if (!rows[0]) throw new Refusal(429, TOO_MANY, { retryAfter: (limit?.minutes ?? 1) * 60 });
  if (person.holdings.isMadeByJoin && !(isUpgrade && person.holdings.holdsMembership))
    await partUnproven(deps.database, person.id);
  return { uuid: rows[0].uuid, programme: product.programme! };
}
