/**
 * The maximum number of characters of an email, of the part before its at sign, and of one label of its domain (RFC 5321,
 * 4.5.3.1).
 */
const LONGEST = 254;
const LONGEST_LOCAL_PART = 64;
const LONGEST_LABEL = 63;

const WORD = /^[a-z0-9!#$%&'*+/=?^_`{|}~-]+$/i;
const LABEL = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/i;
const TOP_LEVEL = /^[a-z][a-z0-9-]*[a-z0-9]$/i;

/**
 * Whether Stripe and HubSpot both accept a text as an email. A single invalid email makes them refuse the whole request that
 * contains it, and invalid ones occur: a text field of the CRM may have "n/a", and the specification's pattern allows
 * "name@gmail..com". Accepts only ASCII, no quotes, no domain without a dot, and no numeric address.
 */
export function isProviderEmail(email: string): boolean {
  if (email.length > LONGEST) return false;
  const [local = '', domain = '', ...more] = email.split('@');
  if (more.length > 0 || local.length > LONGEST_LOCAL_PART) return false;
  const labels = domain.split('.');
  return (
    local.split('.').every((word) => WORD.test(word)) &&
    labels.length > 1 &&
    labels.every((label) => label.length <= LONGEST_LABEL && LABEL.test(label)) &&
    TOP_LEVEL.test(labels.at(-1)!)
  );
}

/** Returns the first candidate that both providers accept, trimmed; null when there is none. */
export function providerEmail(candidates: readonly (string | null | undefined)[]): string | null {
  const trimmed = candidates.flatMap((candidate) => candidate?.trim() || []);
  return trimmed.find(isProviderEmail) ?? null;
}
