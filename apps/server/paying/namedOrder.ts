import type { Intent } from '../providers/stripe/provider.ts';
import type { Deps } from './deps.ts';

/** The order that an intent is for, according to the intent's metadata. */
export interface NamedOrder {
  uuid: string;
  kind: 'join' | 'upgrade';
  revision: number;
}

/**
 * Reads the order that an intent is for from the intent's metadata. Returns null if the intent belongs to another app or
 * environment on the same Stripe account.
 */
export function namedOrder(
  deps: Pick<Deps, 'environment'>,
  { metadata }: Pick<Intent, 'metadata'>,
): NamedOrder | null {
  const { app, environment, session: uuid, kind, revision } = metadata;
  if (app !== 'induct' || environment !== deps.environment || !uuid) return null;
  if (kind !== 'join' && kind !== 'upgrade') return null;
  return { uuid: uuid.toLowerCase(), kind, revision: Number(revision) };
}

/** Whether a text has the form of a payment intent's id at Stripe. */
export const isIntentId = (text: string): boolean => /^pi_[A-Za-z0-9_]+$/.test(text);
