import { invalid } from './errors.ts';

/** The maximum number of characters of each text (the published OpenAPI document, `maxLength`). */
const LONGEST = {
  'customer email': 512,
  'customer name': 256,
  'customer description': 5_000,
  'intent description': 1_000,
  'charge description': 40_000,
  statement_descriptor_suffix: 22,
} as const;

/** Throws when a text is longer than the provider allows. `param` is the parameter that contains it. */
export function checkLength(text: unknown, kind: keyof typeof LONGEST, param: string): void {
  const longest = LONGEST[kind];
  // The text is counted in code points; Stripe does not document how it counts.
  if (typeof text === 'string' && [...text].length > longest)
    throw invalid(`Invalid string: ${text.slice(0, 5)}...; must be at most ${longest} characters`, param);
}

/** An email of ASCII characters: words joined by single dots, then a domain of at least two labels. */
const EMAIL =
  /^[\w!#$%&'*+/=?^`{|}~-]+(\.[\w!#$%&'*+/=?^`{|}~-]+)*@([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+[a-z]([a-z0-9-]*[a-z0-9])$/i;
const LONGEST_LOCAL_PART = 64;

/**
 * Throws `email_invalid` for an invalid email (https://docs.stripe.com/error-codes#email-invalid). '' is allowed, since it unsets
 * the value.
 */
export function checkEmail(given: unknown, param: string): void {
  if (typeof given !== 'string' || given === '') return;
  checkLength(given, 'customer email', param);
  if (!EMAIL.test(given) || given.indexOf('@') > LONGEST_LOCAL_PART)
    throw invalid(`Invalid email address: ${given}`, param, 'email_invalid');
}

/** Throws `url_invalid` for an invalid return URL. Any scheme is allowed, since apps have their own. */
export function checkReturnUrl(given: unknown): void {
  if (typeof given !== 'string') return;
  if (!/^[a-z][a-z0-9+.-]*:\/\/./i.test(given) || !URL.canParse(given))
    throw invalid('Not a valid URL', 'return_url', 'url_invalid');
}

/**
 * Whether a host name can be looked up on the public internet: it has a dot, is not an IP address, and not in a domain for
 * private use.
 */
function isPublicName(host: string): boolean {
  return (
    /^([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+[a-z][a-z0-9-]*[a-z0-9]$/i.test(host) &&
    !/\.(local|localhost|internal)$/i.test(host)
  );
}

/** Throws unless the name is a public host name, for which wallets can be registered. */
export function checkDomainName(name: string): void {
  if (!isPublicName(name)) throw invalid(`Invalid domain name: ${name}`, 'domain_name');
}

/** Throws for a URL that is not https or not publicly reachable: the provider would send no live events to it. */
export function checkWebhookUrl(url: string): void {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    throw invalid('Not a valid URL', 'url', 'url_invalid');
  const { protocol, hostname } = new URL(url);
  if (!isPublicName(hostname))
    throw invalid('Invalid URL: URL must be publicly accessible.', 'url', 'url_invalid');
  if (protocol !== 'https:')
    throw invalid(`Invalid URL: ${url}. URLs in livemode must begin with "https://"`, 'url', 'url_invalid');
}

/**
 * Throws for a suffix that may not be printed on a card statement
 * (https://docs.stripe.com/get-started/account/statement-descriptors).
 */
export function checkStatementSuffix(given: unknown): void {
  const param = 'statement_descriptor_suffix';
  if (typeof given !== 'string' || given === '') return;
  if (given.length > LONGEST[param])
    throw invalid(
      `The statement descriptor suffix must be at most ${LONGEST[param]} characters. ${given} is ${given.length} characters long.`,
      param,
    );
  if (/[<>\\'"*]/.test(given))
    throw invalid('The statement descriptor suffix contains a character that is not allowed.', param);
  if (!/[a-z]/i.test(given))
    throw invalid('The statement descriptor suffix must contain at least one letter.', param);
}
