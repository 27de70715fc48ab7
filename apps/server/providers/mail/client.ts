import MailComposer from 'nodemailer/lib/mail-composer';
import SMTPConnection from 'nodemailer/lib/smtp-connection';
import type { MailAddress, MailSettings } from '../../platform/config/mail.ts';

/** How long opening a connection, and sending one letter on it, may take at most; and for how long the server may be silent (ms). */
export const mailTimes = { openMs: 25_000, sendMs: 60_000, silenceMs: 30_000 };
/** To resolve its name, to connect, and to be greeted (ms). */
const CONNECT_MS = 10_000;

/** A letter on its way. Header fields take no line breaks: {@link openMail} refuses none and lets none through. */
export interface Mail {
  /** With its angle brackets: the same at every try. */
  messageId: string;
  from: MailAddress;
  replyTo: MailAddress;
  /** An address that `isProviderEmail` takes. */
  to: string;
  subject: string;
  text: string;
  html: string;
  headers: Record<string, string>;
  /** Pictures that the HTML names as cid:…. */
  pictures: { cid: string; type: string; bytes: Buffer }[];
}

/** The server refuses this letter for good: its recipient, or what it says. */
export class MailRefused extends Error {}
/** Nothing is known against this letter; later it may be taken. */
export class MailPostponed extends Error {}
/** No letter can be sent now. `notice`: somebody has to put something right, in a sentence for staff that is of no letter. */
export class MailDown extends Error {
  readonly notice: string | null;
  constructor(message: string, notice: string | null) {
    super(message);
    this.notice = notice;
  }
}

/** A connection on which letters are sent, one after the other. After a failure it is closed. */
export interface MailConnection {
  /** Resolves when the server has taken the letter. Throws {@link MailRefused}, {@link MailPostponed} or {@link MailDown}. */
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
  // The first failure; whoever waits is told of it, and nobody else needs to be.
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

/** The letter as it goes over the line. */
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

/** As nodemailer throws it. */
interface SmtpError extends Error {
  code?: string;
  /** The server's answer: three digits. */
  responseCode?: number;
  response?: string;
  /** What the server was answering to. */
  command?: string;
}

/** Nobody's letter is at fault: who logs in, who sends, or the connection. */
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

/** Answers about authentication, whatever they answer to (RFC 4954, section 6). */
const AUTHENTICATION = [530, 534, 535, 538];
/** The server closes the connection (RFC 5321, 3.8). */
const CLOSING = 421;

function failureOf(error: SmtpError, settings: MailSettings): Error {
  const { responseCode = 0, command, response } = error;
  const isOfLetter = command === 'RCPT TO' || command === 'DATA';
  if (AUTHENTICATION.includes(responseCode)) return downBy(Object.assign(error, { code: 'EAUTH' }), settings);
  if (!isOfLetter || responseCode === CLOSING) {
    // Cut off, or silent, while a letter was sent: it may be this letter that the server does not survive.
    if (responseCode === 0) return new MailPostponed(error.message);
    return downBy(error, settings);
  }
  // 503 says that commands came in a wrong order.
  return responseCode >= 500 && responseCode !== 503
    ? new MailRefused(response ?? error.message)
    : new MailPostponed(response ?? error.message);
}
