import { sql } from 'kysely';
import { linkQuery, readCheckoutQuery } from '#core/linkQuery.ts';
import { displayPrice } from '#core/money.ts';
import { isMember } from '#core/people.ts';
import { floorOf, salePrice } from '#core/price.ts';
import { isMembershipType, type MembershipType } from '#core/product.ts';
import { Refusal } from '../../platform/http/refusal.ts';
import type { LinkTarget } from '../../session/links.ts';
import { holdings, personOf } from '../../session/members.ts';
import type { Society } from '../../society/society.ts';
import type { Deps } from '../deps.ts';

const CHECKOUT = '/initialize/checkout';

/** Parses a link's address; returns null if it does not lead to a contact's page. */
export function readLink(url: URL): { target: LinkTarget; exp?: string; sig?: string } | null {
  const { exp, sig } = Object.fromEntries(linkQuery(url.href));
  const signature = { ...(exp === undefined ? {} : { exp }), ...(sig === undefined ? {} : { sig }) };
  const init = /^\/registration\/([^/]+)\/init$/.exec(url.pathname)?.[1];
  if (init) return { target: { kind: 'init', contactId: init }, ...signature };
  const resume = /^\/upload-resume\/([^/]+)$/.exec(url.pathname)?.[1];
  if (resume) return { target: { kind: 'resume', contactId: resume }, ...signature };
  const query = url.pathname === CHECKOUT ? readCheckoutQuery(url.href) : null;
  if (query === null || 'unread' in query) return null;
  const { vid = '', exp: _, sig: __, ...parameters } = query;
  return { target: { kind: 'checkout', contactId: vid, parameters }, ...signature };
}

/** Returns lines for staff that say what a link does and whether it is accepted now. */
export async function previewLink(
  deps: Pick<Deps, 'database' | 'config' | 'links' | 'society'>,
  url: URL,
): Promise<{ lines: string[]; isGood: boolean }> {
  const query = url.pathname === CHECKOUT ? readCheckoutQuery(url.href) : null;
  if (query && 'unread' in query)
    return { lines: [`It sells nothing: “${query.unread}” cannot be read.`], isGood: false };
  const link = readLink(url);
  if (!link) return { lines: ['This is not a link to a page of a contact.'], isGood: false };
  const { target, exp, sig } = link;
  const lines: string[] = [];
  let isGood = true;
  const { origin } = new URL(deps.config.publicUrl);
  if (url.origin !== origin) {
    isGood = false;
    lines.push(`It leads to ${url.origin}; this installation is ${origin}.`);
  }
  try {
    deps.links.check(target, { exp, sig });
    lines.push(
      sig === undefined
        ? 'Unsigned, and unsigned links are permitted here.'
        : 'Signed, and it may be followed.',
    );
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    isGood = false;
    lines.push(`Refused: ${error.message}`);
  }
  if (exp !== undefined && /^\d{1,12}$/.test(exp))
    lines.push(`expires   ${new Date(Number(exp) * 1000).toISOString().slice(0, 16)}Z`);
  const contact = await deps.database
    .selectFrom('person')
    .select(['profile', 'deleted_at', holdings('person.id').as('holdings')])
    .where('id', '=', personOf(sql`${target.contactId}`))
    .executeTakeFirst();
  const name = [contact?.profile.firstName, contact?.profile.lastName].filter(Boolean).join(' ');
  lines.push(
    `contact   ${target.contactId} ${contact ? `(${name || 'no name'}${isMember(contact.holdings, 'code') ? ', already a member' : ''})` : '(not in the mirror; HubSpot is asked when the link is used)'}`,
  );
  const does = { init: 'starts a join', checkout: 'starts a checkout', resume: 'takes a resume' };
  lines.push(`does      ${does[target.kind]}`);
  if (target.kind !== 'checkout') return { lines, isGood };
  if (contact?.deleted_at)
    return { lines: [...lines, 'refused   the contact was deleted in HubSpot'], isGood: false };

  const sale = previewSale(deps.society, target.parameters ?? {});
  return { lines: [...lines, ...sale.lines], isGood: isGood && sale.isGood };
}

/**
 * Returns lines for staff that say what a checkout link with these parameters sells, and whether it may be sold. If it may be
 * sold, `type` and `words` describe the product. `isUpgradeRetired`: whether the upgrade in the link is retired. Such a link
 * sells its product, but offers no upgrade after the purchase.
 */
export function previewSale(
  society: Society,
  { mp, usp, c }: NonNullable<LinkTarget['parameters']>,
): { lines: string[]; isGood: boolean; isUpgradeRetired: boolean; type: MembershipType; words: string } {
  const id = mp === undefined ? society.programme(society.defaultProgramme).defaultMembership : Number(mp);
  const product = society.linkOffer(id);
  if (!product || !isMembershipType(product.type)) {
    const begins = society.offer({ id });
    const why =
      begins?.type === 'membership'
        ? `begins a join, and its programme ${begins.programme} is retired`
        : 'cannot be bought with a link';
    const lines = [`product   ${id} ${why}`];
    return { lines, isGood: false, isUpgradeRetired: false, type: 'membership', words: '' };
  }
  const isAmount = c === undefined || /^\d{1,9}$/.test(c);
  const price = isAmount ? salePrice(product, c === undefined ? null : Number(c)) : 'no amount in cents';
  const lines = [
    `product   ${product.id} ${product.name}, ${displayPrice(product.priceCents ?? 0)}`,
    `price     ${typeof price === 'number' ? displayPrice(price) : `${isAmount ? displayPrice(Number(c)) : `c=${c}`} is ${price}`} (floor ${displayPrice(floorOf(product))})`,
  ];
  const named = usp === undefined ? undefined : society.product(Number(usp));
  const isUpgrade = usp === undefined || named?.type === 'membership_upgrade';
  const offer = society.offer({ id: usp === undefined ? (product.upgrade ?? 0) : Number(usp) });
  const isUpgradeRetired = usp !== undefined && isUpgrade && !offer;
  if (!isUpgrade) lines.push(`upgrade   ${usp} is not an upgrade`);
  else if (isUpgradeRetired)
    lines.push(`upgrade   ${usp} ${named?.name} is retired: nothing is offered after the purchase`);
  else if (offer) lines.push(`upgrade   ${offer.id} ${offer.name}, ${displayPrice(offer.priceCents ?? 0)}`);
  const offered = offer ? `, then offers ${offer.name} at ${displayPrice(offer.priceCents ?? 0)}` : '';
  return {
    lines,
    isGood: typeof price === 'number' && isUpgrade,
    isUpgradeRetired,
    type: product.type,
    words: typeof price === 'number' ? `sells ${product.name} at ${displayPrice(price)}${offered}` : '',
  };
}
