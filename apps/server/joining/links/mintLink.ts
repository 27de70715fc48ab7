import type { Links, LinkTarget } from '../../session/links.ts';

const paths: Record<LinkTarget['kind'], (contactId: string) => string> = {
  init: (contactId) => `/registration/${contactId}/init`,
  checkout: () => '/initialize/checkout',
  resume: (contactId) => `/upload-resume/${contactId}`,
};

/**
 * Returns a signed link to a contact's page, valid until `expires`. A checkout link may have the `parameters` mp, usp and c
 * (cents).
 */
export function mintLink(links: Links, publicUrl: string, target: LinkTarget, expires: Date): string {
  const { exp, sig } = links.sign(target, expires);
  const url = new URL(paths[target.kind](target.contactId), publicUrl);
  if (target.kind === 'checkout') url.searchParams.set('vid', target.contactId);
  for (const [name, value] of Object.entries(target.parameters ?? {})) url.searchParams.set(name, value);
  url.searchParams.set('exp', exp);
  url.searchParams.set('sig', sig);
  return url.href;
}
