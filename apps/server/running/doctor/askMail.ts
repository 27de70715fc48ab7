import { Resolver } from 'node:dns/promises';
import type { MailSettings } from '../../platform/config/mail.ts';
import type { Answer } from '../../providers/answer.ts';
import { MailDown, openMail } from '../../providers/mail/client.ts';

/** Returns the TXT records of a name, each as an array of its strings. Rejects like node:dns. */
export type ResolveTxt = (name: string) => Promise<string[][]>;

/** The doctor's findings about the mail server, and about DNS records of the sender's domain. */
export interface MailState {
  server: string;
  isStandIn: boolean;
  /** The result of connecting and logging in. */
  connection: Answer<null>;
  /** The DNS records of the sender's domain; null if letters go to the stand-in. */
  domain: {
    name: string;
    /** All SPF records. A domain must have exactly one. */
    spf: Answer<readonly string[]>;
    /** The selectors that were tried, whether MAIL_DKIM_SELECTOR set them, and the first one that has a key (null if none has). */
    dkim: { selectors: readonly string[]; isSet: boolean; found: Answer<string | null> };
    /** The DMARC record of the domain, or of the nearest domain above it; null if there is none. */
    dmarc: Answer<string | null>;
  } | null;
}

/**
 * Common DKIM selectors: the defaults of Google Workspace, Microsoft 365, Mailchimp, SendGrid, Mailgun, Zoho, Fastmail and others.
 * They are tried because DNS cannot list a domain's selectors.
 */
export const USUAL_SELECTORS = [
  'default',
  'google',
  'selector1',
  'selector2',
  'k1',
  'k2',
  'k3',
  's1',
  's2',
  'mail',
  'smtp',
  'dkim',
  'zoho',
  'fm1',
  'mx',
  'pm',
];

const TIMEOUT_MS = 3_000;

/**
 * Connects to the mail server, logs in, and reads the DNS records by which receiving servers judge the sender. Sends no letter. A
 * failure of the mail server or of DNS is returned, not thrown.
 */
export async function askMail(
  settings: MailSettings,
  sender: string,
  resolveTxt: ResolveTxt = resolver(),
): Promise<MailState> {
  const name = sender.split('@')[1]!;
  const [connection, domain] = await Promise.all([
    connect(settings),
    settings.isStandIn ? null : askDomain(name, settings.dkimSelector, resolveTxt),
  ]);
  return {
    server: `${settings.host}:${settings.port}`,
    isStandIn: settings.isStandIn,
    connection,
    domain,
  };
}

async function connect(settings: MailSettings): Promise<Answer<null>> {
  try {
    (await openMail(settings)).close();
    return { said: null };
  } catch (error) {
    if (error instanceof MailDown) return { down: error.message };
    throw error;
  }
}

async function askDomain(
  name: string,
  selector: string | null,
  resolveTxt: ResolveTxt,
): Promise<NonNullable<MailState['domain']>> {
  const selectors = selector === null ? USUAL_SELECTORS : [selector];
  const [spf, keys, dmarc] = await Promise.all([
    look(resolveTxt, name, /^v=spf1( |$)/i),
    Promise.all(
      // The key in `p=` must not be empty: an empty one means that the key was revoked (RFC 6376, 3.6.1).
      selectors.map((each) => look(resolveTxt, `${each}._domainkey.${name}`, /(^|;)\s*p=\s*[A-Za-z0-9+/]/)),
    ),
    askDmarc(name, resolveTxt),
  ]);
  const at = keys.findIndex((key) => 'said' in key && key.said.length > 0);
  const down = keys.find((key) => 'down' in key);
  return {
    name,
    spf,
    dkim: {
      selectors,
      isSet: selector !== null,
      found: at >= 0 ? { said: selectors[at]! } : (down ?? { said: null }),
    },
    dmarc,
  };
}

/** Finds the DMARC record of a domain, or of the nearest domain above it (RFC 7489, 6.6.3). */
async function askDmarc(name: string, resolveTxt: ResolveTxt): Promise<Answer<string | null>> {
  for (let labels = name.split('.'); labels.length > 1; labels = labels.slice(1)) {
    const found = await look(resolveTxt, `_dmarc.${labels.join('.')}`, /^v=DMARC1\s*;/i);
    if (!('said' in found)) return found;
    if (found.said.length > 0) return { said: found.said[0]! };
  }
  return { said: null };
}

async function look(
  resolveTxt: ResolveTxt,
  name: string,
  kind: RegExp,
): Promise<{ said: string[] } | { down: string }> {
  try {
    const records = await resolveTxt(name);
    return { said: records.map((pieces) => pieces.join('')).filter((record) => kind.test(record)) };
  } catch (error) {
    const { code = '' } = error as { code?: string };
    return code === 'ENOTFOUND' || code === 'ENODATA' ? { said: [] } : { down: `DNS: ${code}` };
  }
}

function resolver(): ResolveTxt {
  const dns = new Resolver({ timeout: TIMEOUT_MS, tries: 2 });
  return (name) => dns.resolveTxt(name);
}
