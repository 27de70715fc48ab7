/** Common mail domains. If the typed domain is one typing error away from several of these, the first of them is suggested. */
const providers = [
  'gmail.com',
  'yahoo.com',
  'hotmail.com',
  'outlook.com',
  'icloud.com',
  'aol.com',
  'live.com',
  'msn.com',
  'me.com',
  'comcast.net',
  'verizon.net',
  'att.net',
  'sbcglobal.net',
  'protonmail.com',
  'proton.me',
  'ymail.com',
  'mail.com',
  'googlemail.com',
  'yahoo.ca',
  'hotmail.ca',
  'rogers.com',
  'bell.net',
  'shaw.ca',
  'telus.net',
  'yahoo.co.uk',
  'email.com',
  'mac.com',
  'gmx.com',
  'zoho.com',
  'fastmail.com',
  'hotmail.co.uk',
] as const;

/** Common misspellings of top-level domains. None of them exists as a top-level domain. */
const endings: Record<string, string> = {
  con: 'com',
  cmo: 'com',
  ocm: 'com',
  comm: 'com',
  vom: 'com',
  xom: 'com',
  cim: 'com',
  ent: 'net',
  nte: 'net',
  eud: 'edu',
  edi: 'edu',
};

/**
 * Returns the email address that was probably meant, if the domain is one typing error away from a common domain, has a misspelt
 * ending, or has a comma or a final dot; null if nothing looks wrong. This is only a suggestion, since the specification has no
 * rule that refuses such an address.
 */
export function emailSuggestion(typed: string): string | null {
  const [, name, domain] = /^([^\s@]+)@([^\s@]+)$/.exec(typed.trim()) ?? [];
  if (!name || !domain) return null;
  const given = domain.toLowerCase().replace(/,/g, '.').replace(/\.+$/, '');
  const ending = given.slice(given.lastIndexOf('.') + 1);
  const mended =
    given.includes('.') && Object.hasOwn(endings, ending)
      ? given.slice(0, -ending.length) + endings[ending]
      : given;
  const known = (providers as readonly string[]).includes(mended);
  // Domains of up to seven characters are never suggested, because many real domains differ from a domain so short by a single
  // letter.
  const near = known
    ? undefined
    : providers.find((provider) => provider.length > 7 && isOneSlip(mended, provider));
  const meant = near ?? mended;
  return meant === domain.toLowerCase() ? null : `${name}@${meant}`;
}

/** Whether two different words are one edit apart (a letter added, left out or changed) or one swap of neighbouring letters. */
function isOneSlip(typed: string, meant: string): boolean {
  let at = 0;
  while (at < typed.length && typed[at] === meant[at]) at++;
  const rest = typed.slice(at);
  const wanted = meant.slice(at);
  return (
    rest.slice(1) === wanted ||
    rest === wanted.slice(1) ||
    rest.slice(1) === wanted.slice(1) ||
    (rest.slice(2) === wanted.slice(2) && rest[0] === wanted[1] && rest[1] === wanted[0])
  );
}
