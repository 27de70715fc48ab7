import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type KeptLetter, type MailEmulator, startMailEmulator } from './server.ts';
import { faultOf } from './strict.ts';

function folderOf(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'induct-mailbox-'));
  t.after(() => rmSync(folder, { recursive: true }));
  return folder;
}
const start = (dataDir: string, port = 0, smtpPort = 0) =>
  startMailEmulator({ host: '127.0.0.1', port, smtpPort, dataDir });
const lettersOf = async ({ url }: MailEmulator): Promise<KeptLetter[]> =>
  (await (await fetch(`${url}/_emulator/letters`)).json()) as KeptLetter[];

const fields = {
  From: 'Society <join@society.example>',
  To: 'jordan@example.com',
  Subject: 'Hello',
  Date: 'Mon, 23 Nov 2026 12:00:00 +0000',
  'Message-ID': '<one@society.example>',
  'MIME-Version': '1.0',
};
const letter = (change: Record<string, string | undefined> = {}, body = 'Hello.\r\n') =>
  `${Object.entries({ ...fields, ...change })
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\r\n')}\r\n\r\n${body}`;

/** Sends a message by plain SMTP commands. Returns the server's last reply. */
async function deliver({ smtpUrl }: MailEmulator, message: string): Promise<string> {
  const socket = connect(Number(new URL(smtpUrl).port), '127.0.0.1');
  let heard = '';
  let told: (() => void) | undefined;
  socket.on('data', (chunk) => {
    heard += chunk;
    if (/^\d{3} .*\r\n$/m.test(heard)) told?.();
  });
  const answer = async () => {
    if (!/^\d{3} .*\r\n$/m.test(heard)) await new Promise<void>((done) => (told = done));
    const last = heard.trim().split('\r\n').at(-1)!;
    heard = '';
    return last;
  };
  await answer();
  let last = '';
  for (const line of [
    'EHLO test',
    'MAIL FROM:<join@society.example>',
    'RCPT TO:<jordan@example.com>',
    'DATA',
  ]) {
    socket.write(`${line}\r\n`);
    last = await answer();
  }
  socket.write(`${message}\r\n.\r\n`);
  last = await answer();
  socket.destroy();
  return last;
}

test('a letter is kept across restarts, and is one letter however often it comes', async (t) => {
  const folder = folderOf(t);
  const first = await start(folder);
  assert.match(await deliver(first, letter()), /^250 /);
  assert.match(await deliver(first, letter()), /^250 /);
  await first.close();
  const second = await start(folder, Number(new URL(first.url).port), Number(new URL(first.smtpUrl).port));
  t.after(() => second.close());
  assert.deepEqual([second.url, second.smtpUrl], [first.url, first.smtpUrl]);
  const kept = await lettersOf(second);
  assert.deepEqual(
    kept.map(({ to, subject, arrivals }) => [to, subject, arrivals]),
    [['jordan@example.com', 'Hello', 2]],
  );
});

const envelope = { from: 'join@society.example', to: ['jordan@example.com'] };
for (const [what, message, fault] of [
  ['no Message-ID', letter({ 'Message-ID': undefined }), /not exactly one message-id/],
  ['a Message-ID that is none', letter({ 'Message-ID': 'one' }), /Message-ID is none/],
  ['no Date', letter({ Date: undefined }), /not exactly one date/],
  ['a Date that is none', letter({ Date: 'today' }), /Date is none/],
  ['a second From', `From: x@y.example\r\n${letter()}`, /not exactly one from/],
  ['a From that is not who sends it', letter({ From: 'other@society.example' }), /From is not who sends it/],
  ['a To that is not whom it goes to', letter({ To: 'all@example.com' }), /To is not whom/],
  ['a header that is not ASCII', letter({ Subject: 'Grüße' }), /not ASCII/],
  ['a line that is no field', letter({ Subject: 'x\r\nno field' }), /no field/],
  ['a line end of LF alone', letter({}, 'a\nb\r\n'), /CR or LF alone/],
  ['a line that is too long', letter({}, `${'x'.repeat(999)}\r\n`), /more than 998/],
] as const)
  test(`a letter with ${what} is refused`, () => {
    assert.match(faultOf(Buffer.from(message), envelope) ?? '', fault);
  });

test('a letter as it should be is not, and what is refused is told with 550', async (t) => {
  assert.equal(faultOf(Buffer.from(letter()), envelope), null);
  const server = await start(folderOf(t));
  t.after(() => server.close());
  assert.match(await deliver(server, letter({ Date: undefined })), /^550 5\.6\.0 Not a letter: /);
  assert.deepEqual(await lettersOf(server), []);
});

test('letters are shown in a frame that runs nothing, as text they are text, and no page is anything else', async (t) => {
  const server = await start(folderOf(t));
  t.after(() => server.close());
  const html = '<p>Hello</p><script>alert(1)</script>';
  await deliver(server, letter({ Subject: '<b>Hi</b>', 'Content-Type': 'text/html' }, html));
  const get = async (path: string) => {
    const answer = await fetch(server.url + path);
    return {
      status: answer.status,
      policy: answer.headers.get('content-security-policy') ?? '',
      text: await answer.text(),
    };
  };
  const list = await get('/emulated/mail');
  assert.match(list.text, /&#60;b&#62;Hi/);
  assert.match(list.policy, /default-src 'none'; style-src 'sha256-/);
  const page = await get('/emulated/mail/1');
  assert.match(page.text, /<iframe [^>]*sandbox="allow-popups allow-popups-to-escape-sandbox"/);
  assert.doesNotMatch(page.text, /<script/);
  const shown = await get('/emulated/mail/1/html');
  assert.match(shown.policy, /^sandbox allow-popups [^;]*; default-src 'none'/);
  assert.doesNotMatch(shown.policy, /allow-scripts|allow-same-origin/);
  assert.equal((await get('/emulated/mail/7')).status, 404);
});
