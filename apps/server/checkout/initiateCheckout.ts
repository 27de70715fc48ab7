import { sql } from 'kysely';
import { displayPrice } from '#core/money.ts';
import { floorOf, HIGHEST_OVERRIDE_CENTS, salePrice } from '#core/price.ts';
import { isMembershipType } from '#core/product.ts';
import { fallback } from '#core/sentences.ts';
import { cannotLookUp, linkedContact } from '../contacts/linkedContact.ts';
import type { Deps } from '../deps.ts';
import type { LinkSignature } from '../links/links.ts';
import { TOO_MANY } from '../platform/http/limits.ts';
import { Refusal } from '../platform/http/refusal.ts';
import { personOf, refusedSale, type SaleRefusal, saleRefusal } from '../session/members.ts';
import { firstLine, lineOf } from '../session/orderLines.ts';

const NOT_SOLD_HERE = 'This product cannot be bought with this link.';
const NOT_AN_UPGRADE = 'The offer that this link names is not an upgrade.';

/**
 * Starts a checkout from a link, without student details.
 * - `mainProductId`: the product to sell; by default the default membership.
 * - `upsellProductId`: the upgrade to offer.
 * - `overrideMainPriceCents`: the product's price, at least its floor in the catalogue.
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
  if (product.type === 'membership_upgrade' && found === 'unavailable') throw cannotLookUp();

  const addressHash = deps.hashAddress(given.address);
  const limit = deps.config.limits?.joinsPerAddress;
  const { rows } = await sql<{ uuid: string | null; refusal: SaleRefusal | null }>`
    with allowed as (
      select id, ${saleRefusal(product.type, 'person.id')} as refusal, ${
        limit
          ? sql`(select count(*) from (
              select from join_session where address_hash = ${addressHash}
              and created_at > now() - make_interval(mins => ${limit.minutes}) limit ${limit.count}) recent) < ${limit.count}`
          : sql`true`
      } as under_limit
      from person where id = ${personOf(sql`${contactId}`)} and deleted_at is null
    ), started as (
      insert into join_session (state, origin, programme, person_id, is_checkout_only, upsell_product_id, revision, lines, address_hash)
      select 'ordering', 'checkout', ${product.programme!}, id, true, ${upsellProductId ?? null}::int, 1, ${firstLine(lineOf(product, priceCents))}::jsonb, ${addressHash}
      from allowed where refusal is null and under_limit
      returning uuid
    )
    select started.uuid, refusal from allowed left join started on true`.execute(deps.database);
  const row = rows[0];
  if (!row) throw new Refusal(404, fallback.initiateCheckout);
  if (row.refusal) throw refusedSale(row.refusal);
  if (row.uuid === null) throw new Refusal(429, TOO_MANY, { retryAfter: (limit?.minutes ?? 1) * 60 });
  return { uuid: row.uuid, programme: product.programme! };
}
