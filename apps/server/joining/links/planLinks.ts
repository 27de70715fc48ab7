import type { MembershipType } from '#core/product.ts';
import { Failed } from '../../platform/failed.ts';
import type { LinkTarget } from '../../session/links.ts';
import type { Deps } from '../deps.ts';
import { mintLink } from './mintLink.ts';
import { previewSale } from './previewLink.ts';
import { type Recipient, recipientsOf } from './recipients.ts';

/** The most days for which a link is valid. Retention periods in a society's file have the same maximum. */
export const MOST_DAYS = 36_500;

/** The links that staff want. Only checkout links have `parameters` (mp, usp, c). */
export interface WantedLinks {
  kind: LinkTarget['kind'];
  parameters: NonNullable<LinkTarget['parameters']>;
  days: number;
}

/** A plan for links that may be signed. */
export interface LinkPlan {
  /** What each link does, worded as the end of a sentence. */
  does: string;
  expires: Date;
  /** Looks contacts up at HubSpot, up to 100 with one request, and returns for each whether a link may be signed. */
  lookUp(contactIds: readonly string[]): Promise<Recipient[]>;
  mint(contactId: string): string;
}

/** Returns the plan for such links. Throws {@link Failed} if they could sell nothing, or their upgrade is retired. */
export function planLinks(deps: Deps, { kind, parameters, days }: WantedLinks): LinkPlan {
  const sale = kind === 'checkout' ? previewSale(deps.society, parameters) : null;
  if (sale && (!sale.isGood || sale.isUpgradeRetired)) {
    const why = sale.isGood ? 'its upgrade is retired' : 'it could sell nothing';
    throw new Failed([`No link is signed, since ${why}:`, ...sale.lines].join('\n'));
  }
  const expires = new Date(deps.now().getTime() + days * 86_400_000);
  // A link that starts a join sells a membership.
  const sells: MembershipType | null =
    kind === 'init' ? 'membership' : kind === 'checkout' ? sale!.type : null;
  return {
    does: kind === 'init' ? 'starts a join' : kind === 'resume' ? 'takes a resume' : sale!.words,
    expires,
    lookUp: (contactIds) => recipientsOf(deps, contactIds, sells),
    mint: (contactId) =>
      mintLink(deps.links, deps.config.publicUrl, { kind, contactId, parameters }, expires),
  };
}
