import { Resolver } from 'node:dns/promises';
import type { MailSettings } from '../platform/config/mail.ts';
import type { Answer } from '../providers/answer.ts';
import { MailDown, openMail } from '../providers/mail/client.ts';

/** The TXT records at a name; rejects as node:dns does. */
export type ResolveTxt = (name: string) => Promise<string[][]>;

/** What was found of the mail server, and of who may send for the sender's domain. */
export interface MailState {
  server: string;
  isStandIn: boolean;
  /** What came of connecting and logging in, as before letters are sent. */
  connection: Answer<null>;
  /** Of the sender; null where a stand-in takes the letters. */
  domain: {
    name: string;
    /** All SPF records: there must be one. */
    spf: Answer<readonly string[]>;
    /** Selectors that were asked for, and the first that has a key. */
    dkim: { selectors: readonly string[]; isSet: boolean; found: Answer<string | null> };
    /** The DMARC record that holds for it, its own or that of a domain above. */
    dmarc: Answer<string | null>;
  } | null;
}

/**
 * DNS does not list selectors: these are what Google Workspace, Microsoft 365, Mailchimp, SendGrid, Mailgun, Zoho, Fastmail and
 * many others use by default.
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

/** Connects and logs in, and looks up what mail servers look up about the sender. Sends nothing. Never throws. */
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
      // A key that was taken back is there without its value (RFC 6376, 3.6.1).
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

/** Its own record, or that of the organization's domain above it (RFC 7489, 6.6.3). */
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
