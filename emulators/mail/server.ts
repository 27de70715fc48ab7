import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import Fastify, { type FastifyReply } from 'fastify';
import { type ParsedMail, simpleParser } from 'mailparser';
import { SMTPServer, type SMTPServerSession } from 'smtp-server';
import { bodyOf } from '../shared/control.ts';
import { openState } from '../shared/state.ts';
import { type MailFault, MailFaults, type Stage } from './faults.ts';
import { LETTER_POLICY, type Listed, letterPage, listPage, PAGE_POLICY } from './page.ts';
import { faultOf, headerOf } from './strict.ts';

export interface MailEmulatorOptions {
  host: string;
  /** The port that receives letters, and the port of the pages that show them; 0 for any free one. */
  smtpPort: number;
  port: number;
  /** The folder of the letters; created when absent. With null, they are kept in memory. */
  dataDir: string | null;
  /** The account that may send letters; anybody may when absent. */
  account?: { user: string; password: string };
}

export interface MailEmulator {
  /** The URL to which clients send letters, smtp://… */
  smtpUrl: string;
  /** The URL of the pages that show letters, and of the control calls that only tests make. */
  url: string;
  close(): Promise<void>;
}

/** A letter that was received and stored. A letter with the Message-ID of a stored one is a retry, and is not stored again. */
export interface KeptLetter extends Listed {
  messageId: string;
  from: string;
  /** The whole message as received, one character a byte (latin1). */
  raw: string;
}

/** Starts a stand-in for a mail server: it stores and shows the letters that it receives, and delivers none. */
export async function startMailEmulator(options: MailEmulatorOptions): Promise<MailEmulator> {
  const { host, account } = options;
  const database = openState(
    options.dataDir,
    'mail',
    `create table if not exists letter (id integer primary key autoincrement, message_id text not null unique, sender text not null,
      recipient text not null, subject text not null, received_at integer not null, arrivals integer not null default 1, raw blob not null)`,
  );
  const faults = new MailFaults();

  /** Stores a letter. Rejects with the SMTP status 550 if the letter is malformed. */
  const keep = async (raw: Buffer, { envelope }: SMTPServerSession) => {
    const from = envelope.mailFrom === false ? '' : envelope.mailFrom.address;
    const to = envelope.rcptTo.map(({ address }) => address);
    const fault = faultOf(raw, { from, to });
    if (fault !== null) throw refusal(550, `5.6.0 Not a letter: ${fault}`);
    const messageId = headerOf(raw).find(({ name }) => name === 'message-id')!.value;
    const subject = (await simpleParser(raw)).subject ?? '';
    database
      .prepare(
        `insert into letter (message_id, sender, recipient, subject, received_at, raw) values (?, ?, ?, ?, ?, ?)
        on conflict (message_id) do update set arrivals = arrivals + 1`,
      )
      .run(messageId, from, to[0]!, subject, Date.now(), raw);
  };

  /**
   * Runs `work` and answers the client, unless a fault of this stage changes that. Does not answer if the fault cuts the
   * connection or leaves it hanging.
   */
  const pass = (
    stage: Stage,
    session: SMTPServerSession,
    recipients: readonly string[],
    answer: (error?: Error | null) => void,
    work: () => Promise<unknown> = async () => {},
  ): void => {
    const fault = faults.take(stage, recipients);
    void meet(fault, work, () => cut(session)).then(
      (isAnswered) => isAnswered && answer(),
      (error) => answer(error as Error),
    );
  };
  const cut = (session: SMTPServerSession) => {
    for (const connection of smtp.connections)
      if (connection.session?.id === session.id) connection._socket.destroy();
  };

  const smtp = new SMTPServer({
    authOptional: account === undefined,
    disabledCommands: account === undefined ? ['STARTTLS', 'AUTH'] : ['STARTTLS'],
    allowInsecureAuth: true,
    disableReverseLookup: true,
    banner: 'a stand-in: nothing is delivered',
    closeTimeout: 100,
    onConnect: (session, answer) => pass('connect', session, [], answer),
    onAuth: ({ username, password }, _, answer) =>
      username === account?.user && password === account?.password
        ? answer(null, { user: username })
        : answer(refusal(535, '5.7.8 Authentication credentials invalid')),
    onMailFrom: (_, session, answer) => pass('mail', session, [], answer),
    onRcptTo: ({ address }, session, answer) => pass('rcpt', session, [address], answer),
    onData(stream, session, answer) {
      const recipients = session.envelope.rcptTo.map(({ address }) => address);
      const pieces: Buffer[] = [];
      // Cuts the connection in mid-message: what was received so far is lost.
      const fault = faults.take('data', recipients);
      if (fault?.kind === 'cut') {
        stream.once('data', () => cut(session));
        return;
      }
      stream.on('data', (piece: Buffer) => pieces.push(piece));
      stream.once('end', () => {
        void meet(
          fault,
          () => keep(Buffer.concat(pieces), session),
          () => cut(session),
        ).then(
          (isAnswered) => isAnswered && answer(),
          (error) => answer(error as Error),
        );
      });
    },
  });
  // Ignores errors, because a client that is killed breaks its connection, and that must not end this process.
  smtp.on('error', () => {});
  const smtpPort = await new Promise<number>((done, fail) => {
    smtp.server.once('error', fail);
    smtp.listen(options.smtpPort, host, () => done((smtp.server.address() as AddressInfo).port));
  });

  const all = (): KeptLetter[] =>
    database
      .prepare(
        `select id, message_id as messageId, sender as "from", recipient as "to", subject, received_at as receivedAt, arrivals, raw
        from letter order by id desc`,
      )
      .all()
      .map(
        (row) =>
          ({ ...row, raw: Buffer.from(row.raw as Uint8Array).toString('latin1') }) as unknown as KeptLetter,
      );
  const app = Fastify({ forceCloseConnections: true });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'string' }, (_, body, done) => done(null, body));
  const letterAt = async (id: string): Promise<{ letter: KeptLetter; mail: ParsedMail } | null> => {
    const letter = all().find((one) => String(one.id) === id);
    return letter ? { letter, mail: await simpleParser(Buffer.from(letter.raw, 'latin1')) } : null;
  };
  app.get('/', (_, reply) => reply.redirect('/emulated/mail'));
  app.get('/emulated/mail', (_, reply) => html(reply, PAGE_POLICY, listPage(all())));
  app.get<{ Params: { id: string } }>('/emulated/mail/:id', async ({ params }, reply) => {
    const found = await letterAt(params.id);
    if (!found) return reply.callNotFound();
    return html(reply, PAGE_POLICY, letterPage(found.letter.id, found.mail, found.letter));
  });
  app.get<{ Params: { id: string } }>('/emulated/mail/:id/html', async ({ params }, reply) => {
    const found = await letterAt(params.id);
    if (!found) return reply.callNotFound();
    return html(reply, LETTER_POLICY, `<base target="_blank">${found.mail.html || ''}`);
  });
  app.get('/_emulator/letters', () => all());
  app.delete('/_emulator/letters', (_, reply) => {
    database.exec('delete from letter');
    return reply.code(204).send();
  });
  app.post('/_emulator/faults', (request, reply) => {
    const wrong = faults.add(bodyOf(request.body) as unknown as MailFault);
    return wrong ? reply.code(400).send({ message: wrong }) : reply.code(204).send();
  });
  app.delete('/_emulator/faults', (_, reply) => {
    faults.clear();
    return reply.code(204).send();
  });
  const url = await app.listen({ host, port: options.port });

  return {
    smtpUrl: `smtp://${host.includes(':') ? `[${host}]` : host}:${smtpPort}`,
    url,
    async close() {
      const closed = new Promise<void>((done) => smtp.close(() => done()));
      await Promise.all([app.close(), closed]);
      database.close();
    },
  };
}

/**
 * Runs `work`, unless the fault prevents that. Resolves with true if the client is to be answered. Rejects with the error to
 * answer, whose `responseCode` is the SMTP status.
 */
async function meet(
  fault: MailFault | undefined,
  work: () => Promise<unknown>,
  cut: () => void,
): Promise<boolean> {
  if (fault?.kind === 'status') throw refusal(fault.status ?? 451, fault.message ?? 'An emulated failure');
  // With `ref: false` this timer does not keep a closed server's process alive.
  if (fault?.kind === 'slow') await wait(fault.ms ?? 1_000, undefined, { ref: false });
  if (fault?.kind !== 'cut' && fault?.kind !== 'hang') await work();
  if (fault?.kind === 'cut' || fault?.kind === 'cut_after') cut();
  return fault === undefined || fault.kind === 'slow';
}

function refusal(responseCode: number, message: string): Error {
  return Object.assign(new Error(message), { responseCode });
}

function html(reply: FastifyReply, policy: string, text: string): FastifyReply {
  return reply
    .headers({
      'content-security-policy': policy,
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
    })
    .type('text/html; charset=utf-8')
    .send(text);
}
