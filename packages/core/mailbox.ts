/** Providers with several domains for the same mailbox. */
const SAME: Record<string, string> = {
  'googlemail.com': 'gmail.com',
  'me.com': 'icloud.com',
  'mac.com': 'icloud.com',
  'proton.me': 'protonmail.com',
  'protonmail.ch': 'protonmail.com',
  'pm.me': 'protonmail.com',
};
/** What a provider ignores in the part before the at sign, in addition to a tag after a plus sign. */
const IGNORED: [domains: RegExp, ignored: RegExp][] = [
  [/^gmail\.com$/, /\./g],
  [/^protonmail\.com$/, /[._-]/g],
  [/^(?:yahoo\.[a-z.]+|ymail\.com|rocketmail\.com)$/, /-.*$/],
];

/**
 * Returns the mailbox of an email, used only to count letters per mailbox and never as an address: in lower case, without the tag
 * after a plus sign, and without the characters that its provider ignores. "Ana.Lee+a@GoogleMail.com" → "analee@gmail.com".
 */
export function mailboxOf(email: string): string {
  const [local = '', given = ''] = email.trim().toLowerCase().split('@');
  const domain = SAME[given] ?? given;
  const untagged = local.replace(/(?<=.)\+.*$/, '');
  const ignored = IGNORED.find(([domains]) => domains.test(domain))?.[1] ?? '';
  return `${untagged.replace(ignored, '') || untagged}@${domain}`;
}
