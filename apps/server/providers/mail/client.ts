import MailComposer from 'nodemailer/lib/mail-composer';
import SMTPConnection from 'nodemailer/lib/smtp-connection';
import type { MailAddress, MailSettings } from '../../platform/config/mail.ts';

/** Timeouts (ms) for opening a connection, for sending one letter, and for silence of the server. */
export const mailTimes = { openMs: 25_000, sendMs: 60_000, silenceMs: 30_000 };
/** Timeout (ms) for each of resolving the name, connecting, and waiting for the greeting. */
const CONNECT_MS = 10_000;

/** A letter to be sent. Line breaks in header fields are removed without an error: see {@link messageOf}. */
export interface Mail {
  /** With its angle brackets. The same at every try. */
  messageId: string;
  from: MailAddress;
  replyTo: MailAddress;
  /** An address that passes `isProviderEmail`. */
  to: string;
  subject: string;
  text: string;
  html: string;
  headers: Record<string, string>;
  /** Pictures to which the HTML refers as cid:…. */
  pictures: { cid: string; type: string; bytes: Buffer }[];
}

/** The server refuses this letter permanently, because of its recipient or its content. */
export class MailRefused extends Error {}
/** The letter was not sent, but the server may accept it later. */
export class MailPostponed extends Error {}
/**
 * No letter can be sent now. `notice` tells staff what is wrong with the mail server or its settings; null if nobody has to repair
 * anything.
 */
export class MailDown extends Error {
  readonly notice: string | null;
  constructor(message: string, notice: string | null) {
    super(message);
    this.notice = notice;
  }
}

/** A connection that sends letters one after the other. A failure closes it. */
export interface MailConnection {
  /** Resolves when the server has accepted the letter. Throws {@link MailRefused}, {@link MailPostponed} or {@link MailDown}. */
  send(mail: Mail): Promise<void>;
  close(): void;
}

/** Connects and logs in. Throws {@link MailDown}. */
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
    socketTimeout: times.silenceMs,
    socketCloseTimeout: 0,
  });
  // Rejects at the connection's first error. The empty handler keeps an error that nobody awaits from ending the process.
  const failed = new Promise<never>((_, fail) => connection.on('error', fail));
  failed.catch(() => {});
  const close = () => connection.close();
  const within = async <T>(ms: number, work: (done: (error?: unknown, value?: T) => void) => void) => {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, fail) => {
      timer = setTimeout(() => fail(new Error(`no end after ${ms / 1000} s`)), ms);
    });
    const worked = new Promise<T | undefined>((done, fail) =>
      work((error, value) => (error ? fail(error) : done(value))),
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
      try {
        await within(times.sendMs, (done) =>
          connection.send({ from: mail.from.address, to: [mail.to], size: message.length }, message, done),
        );
      } catch (error) {
        close();
        throw failureOf(error as SmtpError, settings);
      }
    },
  };
}

/** Returns the letter as the bytes that are sent. */
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

/** An error of nodemailer. */
interface SmtpError extends Error {
  code?: string;
  /** The three-digit status of the server's answer. */
  responseCode?: number;
  response?: string;
  /** The SMTP command that the server answered. */
  command?: string;
}

/** Makes the error for a failure that the letter did not cause: of the login, the sender, or the connection. */
function downBy(error: SmtpError, { host, port }: MailSettings): MailDown {
  const { code, responseCode = 0, command = '' } = error;
  const isForGood = responseCode >= 500;
  const said = `${responseCode || code}`;
  const where = `The mail server ${host}:${port}`;
  if (code === 'EAUTH' || code === 'ENOAUTH')
    return new MailDown(
      error.message,
      responseCode > 0 && !isForGood
        ? null
        : `${where} does not accept the user and password of SMTP_URL (${said}). No letter is sent until it does.`,
    );
  if (code === 'ETLS')
    return new MailDown(
      error.message,
      `${where} offers no TLS, or none with a certificate that is valid for its name. No letter is sent until it does.`,
    );
  if (isForGood && command === 'MAIL FROM')
    return new MailDown(
      error.message,
      `${where} does not accept letters from MAIL_FROM (${said}). No letter is sent until it does.`,
    );
  if (isForGood)
    return new MailDown(
      error.message,
      `${where} refuses us (${said}). No letter is sent until it takes them.`,
    );
  return new MailDown(error.message, null);
}

/** Statuses about authentication, whatever the command (RFC 4954, section 6). */
const AUTHENTICATION = [530, 534, 535, 538];
/** The server closes the connection (RFC 5321, 3.8). */
const CLOSING = 421;

function failureOf(error: SmtpError, settings: MailSettings): Error {
  const { responseCode = 0, command, response } = error;
  const isOfLetter = command === 'RCPT TO' || command === 'DATA';
  if (AUTHENTICATION.includes(responseCode)) return downBy(Object.assign(error, { code: 'EAUTH' }), settings);
  if (!isOfLetter || responseCode === CLOSING) {
    // The connection broke or fell silent while this letter was sent. The letter may be the cause, so only it is postponed.
    if (responseCode === 0) return new MailPostponed(error.message);
    return downBy(error, settings);
  }
  // 503 means a wrong order of commands, which says nothing about the letter.
  return responseCode >= 500 && responseCode !== 503
    ? new MailRefused(response ?? error.message)
    : new MailPostponed(response ?? error.message);
}
