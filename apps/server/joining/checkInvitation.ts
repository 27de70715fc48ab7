import { sql } from 'kysely';
import type { Data } from '#contract/schemas.ts';
import { readChecked } from '#core/checkedText.ts';
import { linkQuery, readCheckoutQuery } from '#core/linkQuery.ts';
import { displayPrice } from '#core/money.ts';
import { screenAt } from '#core/navigation.ts';
import { PASS_DAYS } from '#core/pass.ts';
import { joinOfPayLink } from '../paying/payLinks.ts';
import { Refusal } from '../platform/http/refusal.ts';
import { LINK_EXPIRED, type LinkTarget } from '../session/links.ts';
import { fillIn, lastDay } from '../society/texts.ts';
import { lookUpCode } from './checkEligibility.ts';
import type { Deps } from './deps.ts';

type Checked = Data<'checkInvitation'>;

const DAY_MS = 86_400_000;

/**
 * Returns whether a code or a link is ours, and what it leads to. Reveals nothing about a student, nor whether a code was used.
 * Wrong codes count towards the same limit as at Get Started.
 */
export async function checkInvitation(
  deps: Deps,
  { text, address }: { text: string; address: string },
): Promise<Checked> {
  const read = readChecked(text, deps.config.publicUrl);
  switch (read.is) {
    case 'code':
      return checkCode(deps, { code: read.code, address });
    case 'ours':
      return checkLink(deps, read.url);
    case 'elsewhere':
      return isOfSociety(deps, read.url) ? page : { ...nothing, is: 'elsewhere' };
    case 'unread':
      return { ...nothing, is: 'unread' };
  }
}

/** Whether an address on another site is one that the society's file names, so that our letters and pages link to it. */
function isOfSociety({ society }: Deps, { origin, pathname }: URL): boolean {
  const { links } = society.society;
  const named = [...Object.values(links), society.store.url, society.letters.portal];
  return named.some((address) => {
    if (address === undefined) return false;
    const known = new URL(address);
    return known.origin === origin && known.pathname === pathname;
  });
}

const ofNothing = { programme: null, price: null, refund: null } as const;
const nothing = { ...ofNothing, until: null, holds: false } as const;
const page = { ...nothing, is: 'page', holds: true } as const;

async function checkCode(deps: Deps, { code, address }: { code: string; address: string }): Promise<Checked> {
  const { opening, invitation } = await lookUpCode(deps, { code, addressHash: deps.hashAddress(address) });
  if (!invitation) return { ...nothing, is: 'unknown' };
  const { rows } = await sql<{ expires_at: Date | null; is_of_school: boolean }>`
    select expires_at, school is not null as is_of_school from invitation where code = ${code}`.execute(
    deps.database,
  );
  return {
    ...ofProgramme(deps, invitation.programme),
    is: rows[0]?.is_of_school ? 'school code' : 'code',
    until: rows[0]?.expires_at ? lastDay(deps.society, rows[0].expires_at) : null,
    holds: opening === 'opens',
  };
}

/** Returns the answer's fields about a programme. A null `key` stands for the default programme. */
function ofProgramme({ society }: Deps, key: string | null): Pick<Checked, 'programme' | 'price' | 'refund'> {
  const known = key ?? society.defaultProgramme;
  const { name, refund } = society.programme(known);
  const prices = society.memberships(known).map(({ priceCents }) => priceCents!);
  return {
    programme: name,
    price: prices.length === 0 ? null : displayPrice(Math.min(...prices)),
    refund: fillIn(refund, society, known),
  };
}

async function checkLink(deps: Deps, url: URL): Promise<Checked> {
  const [, , id = ''] = url.pathname.split('/');
  switch (screenAt(url.pathname)) {
    case 'init':
      return signed(deps, url, { is: 'link', target: { kind: 'init', contactId: id } });
    case 'uploadResume':
      return {
        ...signed(deps, url, { is: 'resume', target: { kind: 'resume', contactId: id } }),
        ...ofNothing,
      };
    case 'initializeCheckout':
      return checkoutLink(deps, url);
    case 'pay':
      return unlessRefused(async () => {
        const { programme, expiresAt } = await joinOfPayLink(deps, id);
        const told = { ...ofProgramme(deps, programme), price: null };
        return { ...told, is: 'pay', until: lastDay(deps.society, expiresAt), holds: true };
      });
    case 'pass':
      if (url.hash === '') return page;
      return unlessRefused(async () => {
        const { madeAt } = deps.passes.read(url.hash.slice(1));
        const until = new Date(madeAt.getTime() + PASS_DAYS * DAY_MS);
        return { ...nothing, is: 'join', until: lastDay(deps.society, until), holds: true };
      });
    case null:
      return { ...nothing, is: 'broken' };
    default:
      return page;
  }
}

async function unlessRefused(check: () => Promise<Checked>): Promise<Checked> {
  try {
    return await check();
  } catch (error) {
    if (error instanceof Refusal) return { ...nothing, is: 'broken' };
    throw error;
  }
}

/** Checks a link to Checkout. The price is the one in the link or, without it, the price of the product. */
function checkoutLink(deps: Deps, url: URL): Checked {
  const query = readCheckoutQuery(url.href);
  if (!query || 'unread' in query) return { ...nothing, is: 'broken' };
  const { vid = '', mp, usp, c } = query;
  const parameters = Object.fromEntries(
    Object.entries({ mp, usp, c }).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
  const { society } = deps;
  const sold = society.linkOffer(Number(mp ?? society.programme(society.defaultProgramme).defaultMembership));
  if (!sold) return { ...nothing, is: 'broken' };
  const checked = signed(deps, url, {
    is: 'checkout',
    target: { kind: 'checkout', contactId: vid, parameters },
  });
  if (checked.is === 'broken') return checked;
  const price = displayPrice(c === undefined ? sold.priceCents! : Number(c));
  return { ...checked, ...ofProgramme(deps, sold.programme ?? null), price };
}

/** Checks a signed link. A link whose signature is right but has expired still counts as ours. */
function signed(deps: Deps, url: URL, { is, target }: { is: Checked['is']; target: LinkTarget }): Checked {
  const query = linkQuery(url.href);
  const [exp, sig] = [query.get('exp') ?? undefined, query.get('sig') ?? undefined];
  const until = exp && /^\d{1,12}$/.test(exp) ? lastDay(deps.society, new Date(Number(exp) * 1000)) : null;
  const ours = { ...ofProgramme(deps, null), is, until };
  try {
    deps.links.check(target, { exp, sig });
    return { ...ours, holds: true };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return error.message === LINK_EXPIRED ? { ...ours, holds: false } : { ...nothing, is: 'broken' };
  }
}
