import { createContext, use } from 'react';
import type { Site } from '#contract/schemas.ts';

/** The society's data, which the server has written into the page; null until the app has started. */
let current: Site | null = null;

export function setSite(site: Site): void {
  current = site;
}

/** Returns the society's data, for loaders and actions, which cannot use hooks. They only run after the app has started. */
export function theSite(): Site {
  return current!;
}

export const SiteContext = createContext<Site | null>(null);

export function useSite(): Site {
  return use(SiteContext) ?? theSite();
}

/**
 * Returns the URL of a phone number: "(555) 010-0144" → "tel:5550100144". An extension is left out, since phones would dial it as
 * part of the number.
 */
export function phoneLink(phone: string): string {
  return `tel:${phone.replace(/[,;#x].*|[^\d+]/gi, '')}`;
}
