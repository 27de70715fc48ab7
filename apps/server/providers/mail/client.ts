import { Readable } from 'node:stream';
import MailComposer from 'nodemailer/lib/mail-composer';
import SMTPConnection from 'nodemailer/lib/smtp-connection';
import type { MailAddress, MailSettings } from '../../platform/config/mail.ts';

/**
 * Timeouts (ms): for connecting and logging in, for sending one letter, and for the answer once the whole letter was sent. A
 * server that is slow to answer may have accepted the letter, so with a short timeout the letter would be sent again (RFC 5321,
 * 4.5.3.2.6: ten minutes).
 */
export const mailTimes = { openMs: 25_000, sendMs: 60_000, answerMs: 600_000 };
/** The timeout (ms) for each of: the DNS lookup, the connection, the server's greeting. */
const CONNECT_MS = 10_000;

/** A letter to be sent. Line breaks in header fields are removed without an error (see {@link messageOf}). */
export interface Mail {
  /** The Message-ID with its angle brackets. It is the same in every retry. */
  messageId: string;
  from: MailAddress;
  replyTo: MailAddress;
  /** An address that `isProviderEmail` accepts. */
  to: string;
  subject: string;
  text: string;
  html: string;
  headers: Record<string, string>;
  /** Pictures that the HTML refers to as `cid:…`. */
  pictures: { cid: string; type: string; bytes: Buffer }[];
}

/** Thrown if the server refuses this letter permanently and says that its recipient, size or form is the reason. */
export class MailRefused extends Error {}
/** Thrown if this letter was not sent, but may be accepted later. */
export class MailPostponed extends Error {}
/**
 * Thrown if no letter can be sent now. `code` is the server's reply code, or the name of the connection error. The log has `code`
 * instead of the message, which may quote a reply with the recipient's address. `notice` is a sentence for staff about what to
 * repair at the mail server or in the settings; null if the failure may be temporary. `mayBeOfLetter`: the server has not said
 * whether it refuses the account or only this letter.
 */
export class MailDown extends Error {
  readonly code: string;
  readonly notice: string | null;
  readonly mayBeOfLetter: boolean;
  constructor(message: string, code: string, notice: string | null, mayBeOfLetter = false) {
    super(message);
    this.code = code;
    this.notice = notice;
    this.mayBeOfLetter = mayBeOfLetter;
  }
}

/** A connection to the mail server that sends letters one after another. The connection is closed after a failure. */
export interface MailConnection {
  /** Resolves when the server has accepted the letter. Throws {@link MailRefused}, {@link MailPostponed} or {@link MailDown}. */
  send(mail: Mail): Promise<void>;
  close(): void;
}

/** Connects to the mail server and logs in. Throws {@link MailDown}. */
export async function openMail(settings: MailSettings, times = mailTimes): Promise<MailConnection> {
  const { host, port, isSecure, requiresTls, credentials } = settings;
  const connection = new SMTPConnection({
    host,
    port,
    secure: isSecure,
    requireTLS: requiresTls,
    connectionTimeout: CONNECT_MS,
    greetingTimeout: CONNECT_MS,
    dnsTimeout: CONNECT_MS,
    socketTimeout: times.answerMs,
    socketCloseTimeout: 0,
  });
  // Rejects at the connection's first error. The empty handler marks the rejection as handled: without it, an error that comes
  // while nothing awaits `failed` would end the process.
  const failed = new Promise<never>((_, fail) => connection.on('error', fail));
  failed.catch(() => {});
  const close = () => connection.close();
  /** Runs `work` with a timeout of `firstMs`. With `allow`, `work` restarts the timeout with another time. */
  const within = async <T>(
    firstMs: number,
    work: (done: (error?: unknown, value?: T) => void, allow: (ms: number) => void) => void,
  ) => {
    let timer: NodeJS.Timeout | undefined;
    const { promise: late, reject } = Promise.withResolvers<never>();
    const allow = (ms: number) => {
      clearTimeout(timer);
      timer = setTimeout(() => reject(new Error(`no end after ${ms / 1000} s`)), ms);
    };
    allow(firstMs);
    const worked = new Promise<T | undefined>((done, fail) =>
      work((error, value) => (error ? fail(error) : done(value)), allow),
    );
    try {
      return await Promise.race([worked, failed, late]);
    } finally {
      clearTimeout(timer);
    }
  };
  try {
    await within(times.openMs, (done) => {
      connection.connect((error) => {
        if (error || credentials === null) done(error);
        else connection.login({ user: credentials.user, pass: credentials.password }, done);
      });
    });
  } catch (error) {
    close();
    throw downBy(error as SmtpError, settings);
  }
  return {
    close,
    async send(mail) {
      const message = await messageOf(mail);
      const body = Readable.from(message);
      try {
        await within(times.sendMs, (done, allow) => {
          body.once('end', () => allow(times.answerMs));
          connection.send({ from: mail.from.address, to: [mail.to], size: message.length }, body, done);
        });
      } catch (error) {
        body.destroy();
        close();
        throw failureOf(error as SmtpError, settings, mail);
      }
    },
  };
}

/** Returns the letter as a MIME message. */
export async function messageOf(mail: Mail): Promise<Buffer> {
  const { messageId, from, replyTo, to, subject, text, html, headers, pictures } = mail;
  const attachments = pictures.map(({ cid, type, bytes }) => ({
    cid,
    content: bytes,
    contentType: type,
    contentDisposition: 'inline',
    filename: false as const,
  }));
  return new MailComposer({
    messageId,
    from,
    replyTo,
    to: { name: '', address: to },
    subject,
    text,
    html,
    headers,
    attachments,
    newline: 'win',
    disableFileAccess: true,
    disableUrlAccess: true,
  })
    .compile()
    .build();
}

/** An error that nodemailer throws. */
interface SmtpError extends Error {
  code?: string;
  /** The SMTP reply code. */
  responseCode?: number;
  response?: string;
  /** The SMTP command to which the server replied. */
  command?: string;
}

/** Returns the error for a failure that was caused by the login, the sender or the connection, and not by the letter. */
function downBy(error: SmtpError, { host, port }: MailSettings): MailDown {
  const { code, responseCode = 0, command = '' } = error;
  const isForGood = responseCode >= 500;
  const said = `${responseCode || (code ?? error.message)}`;
  const where = `The mail server ${host}:${port}`;
  const down = (notice: string | null) => new MailDown(error.message, said, notice);
  if (code === 'EAUTH' || code === 'ENOAUTH')
    return down(
      responseCode > 0 && !isForGood
        ? null
        : `${where} does not accept the user and password of SMTP_URL (${said}). No letter is sent until it does.`,
    );
  if (code === 'ETLS')
    return down(
      `${where} offers no TLS, or none with a certificate that is valid for its name. No letter is sent until it does.`,
    );
  if (isForGood && command === 'MAIL FROM')
    return down(
      `${where} does not accept letters from MAIL_FROM (${said}). No letter is sent until it does.`,
    );
  if (isForGood) return down(`${where} refuses us (${said}). No letter is sent until it takes them.`);
  return down(null);
}

/** SMTP reply codes about authentication, which may follow any command (RFC 4954, section 6). */
const AUTHENTICATION = [530, 534, 535, 538];
/** The reply code with which the server closes the connection (RFC 5321, 3.8). */
const CLOSING = 421;

/**
 * Enhanced status codes (RFC 3463) that concern only this letter: an address of the recipient (5.1.7 and 5.1.8 are about the
 * sender, 5.1.90 is Microsoft's daily limit), a mailbox that is disabled, and a letter that is too large or not readable. A
 * mailbox that is full (5.2.2) can be emptied. The other codes are also answered when a limit is exceeded or the account is
 * blocked, such as 5.4.5 and 5.7.1 by Google and 5.2.0 by Microsoft, even with the recipient's address (Postfix:
 * `Relay access denied`).
 */
const OF_LETTER = /^5\.(?:1\.(?:[1-69]|10)|2\.[13]|3\.4|6\.\d+)$/;
/**
 * Reply codes about the mailbox (RFC 5321, 4.2.3). 554 is not among them: with it, Amazon SES names the recipient even when it
 * refuses the account.
 */
const MAILBOX = [550, 551, 552, 553];

function failureOf(error: SmtpError, settings: MailSettings, { from, to }: Mail): Error {
  const { responseCode = 0, command, response = '' } = error;
  const isOfLetter = command === 'RCPT TO' || command === 'DATA';
  if (AUTHENTICATION.includes(responseCode)) return downBy(Object.assign(error, { code: 'EAUTH' }), settings);
  if (!isOfLetter || responseCode === CLOSING) {
    // The connection broke or timed out while this letter was sent. The letter may be the reason, so only this letter is
    // postponed.
    if (responseCode === 0) return new MailPostponed(error.message);
    return downBy(error, settings);
  }
  // 503 means a bad sequence of commands, which is not the letter's fault.
  if (responseCode < 500 || responseCode === 503) return new MailPostponed(response || error.message);
  // Many servers refuse the sender only after the recipient (Postfix) or after the letter (Amazon SES), and name the sender then.
  const names = (address: string) => response.toLowerCase().includes(address.toLowerCase());
  if (names(from.address) && !names(to))
    return downBy(Object.assign(error, { command: 'MAIL FROM' }), settings);
  const [code, status] = /^\d{3}(?:[ -](5\.\d{1,3}\.\d{1,3})\b)?/.exec(response) ?? [`${responseCode}`];
  const isOfThisLetter = status ? OF_LETTER.test(status) : names(to) && MAILBOX.includes(responseCode);
  return isOfThisLetter
    ? new MailRefused(response || error.message)
    : new MailDown(
        response || error.message,
        code,
        `The mail server ${settings.host}:${settings.port} refuses a letter (${code}), and does not say that its recipient is wrong: a limit or a block of the account, MAIL_FROM, or this letter alone may be the cause. Every letter that it refuses like this waits, and is tried at least once an hour.`,
        true,
      );
}
