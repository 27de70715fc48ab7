import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { MailFault } from '../../../../emulators/mail/faults.ts';
import { refusals } from '../../../../emulators/mail/refusals.ts';
import { type KeptLetter, startMailEmulator } from '../../../../emulators/mail/server.ts';
import { control, setFault } from '../../../../tests/harness/providers.ts';
import type { MailSettings } from '../../platform/config/mail.ts';
import { type Mail, MailDown, MailPostponed, MailRefused, mailTimes, openMail } from './client.ts';

const folder = mkdtempSync(join(tmpdir(), 'induct-mail-'));
const standIn = await startMailEmulator({ host: '127.0.0.1', port: 0, smtpPort: 0, dataDir: folder });
after(async () => {
  await standIn.close();
  rmSync(folder, { recursive: true });
});
const settings: MailSettings = {
  host: '127.0.0.1',
  port: Number(new URL(standIn.smtpUrl).port),
  isSecure: false,
  requiresTls: false,
  credentials: null,
  from: null,
  replyTo: null,
  isStandIn: true,
  dkimSelector: null,
  mailbox: null,
};

let letters = 0;
/** Returns a letter with a unique recipient. */
function letter(): Mail {
  const number = ++letters;
  const sender = { name: 'Society', address: 'help@society.example' };
  return {
    messageId: `<${number}@society.example>`,
    from: sender,
    replyTo: sender,
    to: `member${number}@example.com`,
    subject: 'Hello',
    text: 'Hello.',
    html: '<p>Hello.</p>',
    headers: {},
    pictures: [],
  };
}

/** Sends a letter over a new connection, while the mail server has a fault. Returns the error; null if the letter was sent. */
async function failureBy(fault: MailFault, mail = letter(), times: Partial<typeof mailTimes> = {}) {
  await setFault(standIn.url, null);
  await setFault(standIn.url, fault);
  try {
    const connection = await openMail(settings, { ...mailTimes, ...times });
    await connection.send(mail).finally(connection.close);
    return null;
  } catch (error) {
    return error as Error;
  }
}
const arrivalsOf = async ({ to }: Mail) =>
  (await control<KeptLetter[]>(standIn.url, 'GET', 'letters')).filter((kept) => kept.to === to).length;

test('a letter that may pass another time is postponed alone', async () => {
  for (const [fault, times] of [
    [{ kind: 'status', at: 'rcpt', status: 451 }, {}],
    [{ kind: 'status', at: 'data', status: 452 }, {}],
    [{ kind: 'status', at: 'rcpt', status: 503 }, {}],
    [{ kind: 'cut', at: 'data' }, {}],
    [{ kind: 'hang', at: 'data' }, { answerMs: 200 }],
    [{ kind: 'slow', at: 'rcpt', ms: 60_000 }, { sendMs: 200 }],
  ] as const) {
    const mail = letter();
    const failure = await failureBy(fault, mail, times);
    assert.ok(failure instanceof MailPostponed, `${JSON.stringify(fault)}: ${failure}`);
    assert.equal(await arrivalsOf(mail), 0);
  }
});

test('a server that takes its time after the whole letter has come has accepted it', async () => {
  const mail = letter();
  assert.equal(await failureBy({ kind: 'slow', at: 'data', ms: 600 }, mail, { sendMs: 300 }), null);
  assert.equal(await arrivalsOf(mail), 1);
});

test('a server that takes no letter at all is down, with what staff have to mend, and without any address', async () => {
  const login = /does not accept the user and password of SMTP_URL/;
  const sender = /does not accept letters from MAIL_FROM \(55[04]\)/;
  const notYours = '5.7.1 <help@society.example>: Sender address rejected: not owned by user';
  const notVerified =
    'Message rejected: Email address is not verified. Identities that failed: help@society.example';
  for (const [at, status, message, notice] of [
    ['mail', 550, '5.7.1 Not yours', sender],
    ['rcpt', 554, notYours, sender],
    ['data', 554, notVerified, sender],
    ['rcpt', 530, '5.7.0 <{to}> has to log in', login],
    ['rcpt', 534, 'Stronger', login],
    ['data', 538, 'Encrypted', login],
    ['connect', 554, 'Go away', /refuses us \(554\)/],
    ['connect', 421, 'Later', null],
    ['mail', 451, 'Busy', null],
    ['rcpt', 421, '4.7.0 <{to}> is not taken now', null],
    ['data', 421, '4.7.0 <{to}> is not taken now', null],
  ] as const) {
    const failure = await failureBy({ kind: 'status', at, status, message });
    assert.ok(failure instanceof MailDown, `${status} at ${at}: ${failure}`);
    assert.deepEqual([failure.code, failure.mayBeOfLetter], [String(status), false], `${status} at ${at}`);
    assert.doesNotMatch(`${failure.notice}`, /@/);
    if (notice === null) assert.equal(failure.notice, null);
    else assert.match(failure.notice!, notice);
  }
});

test('a server that greets nobody is given up after a while', async () => {
  const failure = await failureBy({ kind: 'hang', at: 'connect' }, letter(), { openMs: 200 });
  assert.ok(failure instanceof MailDown && failure.notice === null, `${failure}`);
});

test('a letter is refused when its recipient or its form is; what may be the account is told, without any address', async () => {
  const ownRefusals = {
    noSuchUser: { at: 'rcpt', status: 550, message: '5.1.1 No such user', concerns: 'recipient' },
    notReadable: { at: 'data', status: 554, message: '5.6.0 Not readable', concerns: 'recipient' },
  } as const;
  for (const [name, { concerns, ...refusal }] of Object.entries({ ...refusals, ...ownRefusals })) {
    const failure = await failureBy({ kind: 'status', ...refusal });
    if (concerns === 'recipient') assert.ok(failure instanceof MailRefused, `${name}: ${failure}`);
    else {
      assert.ok(failure instanceof MailDown && failure.mayBeOfLetter, `${name}: ${failure}`);
      assert.match(failure.notice!, new RegExp(`refuses a letter \\(${refusal.status}[^)]*\\)`), name);
      assert.doesNotMatch(failure.notice!, /@/, name);
    }
  }
});
