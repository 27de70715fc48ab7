import { isProviderEmail } from '#core/providerEmail.ts';
import type { SettingReader } from './reader.ts';

/** The mail server, and the sender of letters. */
export interface MailSettings {
  host: string;
  port: number;
  /**
   * Whether the connection uses TLS from its first byte (smtps://). If false, the connection starts unencrypted and may change to
   * TLS by STARTTLS.
   */
  isSecure: boolean;
  /** Whether letters are sent only if the server offers STARTTLS. False if `isSecure`, and for a mail server on this machine. */
  requiresTls: boolean;
  credentials: { user: string; password: string } | null;
  /** The sender of letters. Null: the society's support email. */
  from: MailAddress | null;
  replyTo: MailAddress | null;
  /** Whether the mail server is the stand-in, which accepts letters and sends them to nobody. */
  isStandIn: boolean;
  /** The selector under which the sender's domain publishes its DKIM key in DNS. If null, the doctor tries common selectors. */
  dkimSelector: string | null;
  /** The page that shows the stand-in's letters; null without a stand-in. */
  mailbox: string | null;
}
export interface MailAddress {
  /** The name before the address; empty if the setting has an address only. */
  name: string;
  address: string;
}

/** Reads the settings of the mail server or of its stand-in. Returns null if the society sends letters by other means. */
export function readMail(settings: SettingReader, mode: 'local' | 'live'): MailSettings | null {
  const { get, fault, address } = settings;
  const dkimSelector = get('MAIL_DKIM_SELECTOR') ?? null;
  if (dkimSelector !== null && !/^[a-z0-9_-]+(\.[a-z0-9_-]+)*$/i.test(dkimSelector))
    fault('MAIL_DKIM_SELECTOR must be what stands before ._domainkey in DNS, as selector1.');
  const isElsewhere = get('MAIL') === 'elsewhere';
  if (get('MAIL') !== undefined && !isElsewhere)
    fault('MAIL can only be "elsewhere": the society sends its letters by other means than Induct.');
  const smtpUrl = address('SMTP_URL', ['smtp:', 'smtps:']);
  const standIn = address('MAIL_EMULATOR_URL', ['smtp:']);
  const mailbox = address('MAIL_EMULATOR_PAGE', ['http:', 'https:']) ?? null;
  const from = mailAddress(settings, 'MAIL_FROM');
  const replyTo = mailAddress(settings, 'MAIL_REPLY_TO');
  const given = ['SMTP_URL', 'MAIL_FROM', 'MAIL_REPLY_TO', 'MAIL_DKIM_SELECTOR'].filter(
    (name) => get(name) !== undefined,
  );
  if (isElsewhere) {
    if (given.length > 0)
      fault(
        `MAIL=elsewhere is set beside ${given.join(' and ')}: letters are either sent from here or elsewhere.`,
      );
    return null;
  }
  if (get('SMTP_URL') === undefined) {
    if (given.length > 0) fault(`${given.join(' and ')} set without SMTP_URL: no mail server is named.`);
    else if (mode === 'live')
      fault(
        'SMTP_URL is missing: MODE=live sends letters by a mail server, smtps://user:password@host. MAIL=elsewhere says that the society sends them by other means.',
      );
    else if (get('MAIL_EMULATOR_URL') === undefined)
      fault(
        'None of SMTP_URL, MAIL_EMULATOR_URL and MAIL=elsewhere is set. `npm start` brings a mailbox of its own.',
      );
  } else {
    if (get('MAIL_FROM') === undefined)
      fault(
        'SMTP_URL is set without MAIL_FROM: letters need a sender, as Honor Society <join@society.example>.',
      );
    if (standIn || mailbox) fault('MAIL_EMULATOR_URL is set beside SMTP_URL: remove one of them.');
  }
  const url = smtpUrl ?? standIn;
  if (url === undefined) return null;
  const {
    protocol,
    hostname,
    port,
    username,
    password: encodedPassword,
    pathname,
    search,
    hash,
  } = new URL(url);
  if (hostname === '' || !['', '/'].includes(pathname) || search !== '' || hash !== '')
    fault('SMTP_URL must be smtp://user:password@host:port or smtps://…, and nothing behind the port.');
  if ((username === '') !== (encodedPassword === ''))
    fault('SMTP_URL must have both a user and a password, or neither. Write / as %2F and @ as %40 in them.');
  const [user, password] = [username, encodedPassword].map((part) => decoded(settings, part));
  const isSecure = protocol === 'smtps:';
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  return {
    host,
    port: port === '' ? (isSecure ? 465 : 587) : Number(port),
    isSecure,
    requiresTls: !isSecure && !['localhost', '127.0.0.1', '::1'].includes(host),
    credentials: user && password ? { user, password } : null,
    from,
    replyTo,
    isStandIn: smtpUrl === undefined,
    dkimSelector,
    mailbox,
  };
}

/** Decodes the percent-encoding in the user or password of SMTP_URL. */
function decoded({ fault }: SettingReader, text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    fault('SMTP_URL has a % that is followed by no two hexadecimal digits: write it as %25.');
    return '';
  }
}

/** Reads a setting of the form `join@society.example` or `Honor Society <join@society.example>`. */
function mailAddress({ get, fault }: SettingReader, name: string): MailAddress | null {
  const value = get(name);
  if (value === undefined) return null;
  const match = /^(?:"?([^"<>\p{Cc}]*?)"?\s*<([^<>\s]+)>|([^<>\s]+))$/u.exec(value);
  const email = match?.[2] ?? match?.[3] ?? '';
  if (isProviderEmail(email)) return { name: match?.[1]?.trim() ?? '', address: email };
  fault(`${name} must be an email, or a name and an email as Honor Society <join@society.example>.`);
  return null;
}
