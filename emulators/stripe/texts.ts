import { invalid } from './errors.ts';

/** Characters that a text may have (the published OpenAPI document, `maxLength`). */
const LONGEST = {
  'customer email': 512,
  'customer name': 256,
  'customer description': 5_000,
  'intent description': 1_000,
  'charge description': 40_000,
  statement_descriptor_suffix: 22,
} as const;

/** Throws when a text that was given is longer than the provider keeps. `param` is the name it was given under. */
export function checkLength(text: unknown, kind: keyof typeof LONGEST, param: string): void {
  const longest = LONGEST[kind];
  // By code points, as far as is known.
  if (typeof text === 'string' && [...text].length > longest)
    throw invalid(`Invalid string: ${text.slice(0, 5)}...; must be at most ${longest} characters`, param);
}

/** Words joined by single dots, then a domain of two labels at least; only ASCII. */
const EMAIL =
  /^[\w!#$%&'*+/=?^`{|}~-]+(\.[\w!#$%&'*+/=?^`{|}~-]+)*@([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+[a-z]([a-z0-9-]*[a-z0-9])$/i;
const LONGEST_LOCAL_PART = 64;

/** Throws `email_invalid` (https://docs.stripe.com/error-codes#email-invalid); '' unsets. */
export function checkEmail(given: unknown, param: string): void {
  if (typeof given !== 'string' || given === '') return;
  checkLength(given, 'customer email', param);
  if (!EMAIL.test(given) || given.indexOf('@') > LONGEST_LOCAL_PART)
    throw invalid(`Invalid email address: ${given}`, param, 'email_invalid');
}

/** Throws `url_invalid` for a return address that is none. Apps have schemes of their own. */
export function checkReturnUrl(given: unknown): void {
  if (typeof given !== 'string') return;
  if (!/^[a-z][a-z0-9+.-]*:\/\/./i.test(given) || !URL.canParse(given))
    throw invalid('Not a valid URL', 'return_url', 'url_invalid');
}

/** Whether strangers can look a host up: it has a dot, is no IP address, and not of a domain for private use. */
function isPublicName(host: string): boolean {
  return (
    /^([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+[a-z][a-z0-9-]*[a-z0-9]$/i.test(host) &&
    !/\.(local|localhost|internal)$/i.test(host)
  );
}

/** Throws for what is no host name of the public internet, where wallets would be registered. */
export function checkDomainName(name: string): void {
  if (!isPublicName(name)) throw invalid(`Invalid domain name: ${name}`, 'domain_name');
}

/** Throws for an address to which the provider would not send live events: it must be https and reachable by strangers. */
export function checkWebhookUrl(url: string): void {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    throw invalid('Not a valid URL', 'url', 'url_invalid');
  const { protocol, hostname } = new URL(url);
  if (!isPublicName(hostname))
    throw invalid('Invalid URL: URL must be publicly accessible.', 'url', 'url_invalid');
  if (protocol !== 'https:')
    throw invalid(`Invalid URL: ${url}. URLs in livemode must begin with "https://"`, 'url', 'url_invalid');
}

/** Throws for what may not be printed on a card statement (https://docs.stripe.com/get-started/account/statement-descriptors). */
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
