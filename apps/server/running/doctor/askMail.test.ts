import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { SMTPServer } from 'smtp-server';
import { startMailEmulator } from '../../../../emulators/mail/server.ts';
import { temporaryFolder } from '../../../../tests/harness/temporaryFolder.ts';
import { readConfig } from '../../platform/config/config.ts';
import type { MailSettings } from '../../platform/config/mail.ts';
import { askMail, type MailState, USUAL_SELECTORS } from './askMail.ts';

const sender = 'join@news.society.example';

function settingsOf(smtpUrl: string, more: Record<string, string> = {}): MailSettings {
  return readConfig({
    DATABASE_URL: 'postgres://x/x',
    STRIPE_EMULATOR_URL: 'http://127.0.0.1:1',
    HUBSPOT_EMULATOR_URL: 'http://127.0.0.1:2',
    SMTP_URL: smtpUrl,
    MAIL_FROM: sender,
    ...more,
  }).mail!;
}

/** Returns a stand-in for DNS that knows only these TXT records. */
const dnsOf = (records: Record<string, string[]>) => async (name: string) => {
  const found = records[name];
  if (!found) throw Object.assign(new Error(name), { code: 'ENOTFOUND' });
  // In DNS, a long TXT record consists of several strings.
  return found.map((text) => [text.slice(0, 5), text.slice(5)]);
};
const nobody = settingsOf('smtp://127.0.0.1:9');
const domainOf = async (
  records: Record<string, string[]>,
  settings = nobody,
): Promise<NonNullable<MailState['domain']>> => (await askMail(settings, sender, dnsOf(records))).domain!;

async function mailServer(t: TestContext, account?: { user: string; password: string }): Promise<string> {
  const dataDir = temporaryFolder(t);
  const server = await startMailEmulator({
    host: '127.0.0.1',
    smtpPort: 0,
    port: 0,
    dataDir,
    ...(account && { account }),
  });
  t.after(() => server.close());
  return server.smtpUrl;
}
const connectionTo = async (url: string) => (await askMail(settingsOf(url), sender, dnsOf({}))).connection;

test('a server that takes the login is told from one that does not, and from none', async (t) => {
  const url = await mailServer(t, { user: 'post', password: 'p@ss' });
  assert.deepEqual(await connectionTo(url.replace('//', '//post:p%40ss@')), { said: null });
  assert.match(((await connectionTo(url.replace('//', '//post:wrong@'))) as { down: string }).down, /535/);
  assert.match(((await connectionTo('smtp://127.0.0.1:9')) as { down: string }).down, /ECONNREFUSED/);
});

test('a server whose certificate is not valid is not trusted', async (t) => {
  const server = new SMTPServer({ authOptional: true, disableReverseLookup: true });
  server.on('error', () => {});
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  t.after(() => new Promise<void>((done) => server.close(() => done())));
  const { port } = server.server.address() as { port: number };
  const settings = { ...settingsOf(`smtp://127.0.0.1:${port}`), requiresTls: true };
  const { connection } = await askMail(settings, sender, dnsOf({}));
  assert.match((connection as { down: string }).down, /certificate/);
});

test('what is published for the sender is found where it stands', async () => {
  const domain = await domainOf({
    'news.society.example': ['google-site-verification=1', 'v=spf1 include:mail.example ~all'],
    'google._domainkey.news.society.example': ['v=DKIM1; k=rsa; p=MIGf'],
    '_dmarc.society.example': ['v=DMARC1; p=reject'],
  });
  assert.deepEqual(domain, {
    name: 'news.society.example',
    spf: { said: ['v=spf1 include:mail.example ~all'] },
    dkim: { selectors: USUAL_SELECTORS, isSet: false, found: { said: 'google' } },
    dmarc: { said: 'v=DMARC1; p=reject' },
  });
});

test('what is not published, or taken back, is not found', async () => {
  const { spf, dkim, dmarc } = await domainOf({
    'news.society.example': ['v=spf10'],
    'mail._domainkey.news.society.example': ['v=DKIM1; p='],
  });
  assert.deepEqual([spf, dkim.found, dmarc], [{ said: [] }, { said: null }, { said: null }]);
});

test('a name that has other records alone publishes nothing, like one that does not exist', async () => {
  const { domain } = await askMail(nobody, sender, async () => {
    throw Object.assign(new Error('no TXT'), { code: 'ENODATA' });
  });
  const { spf, dkim, dmarc } = domain!;
  assert.deepEqual([spf, dkim.found, dmarc], [{ said: [] }, { said: null }, { said: null }]);
});

test('a selector that is set is the only one that is asked for', async () => {
  const settings = settingsOf('smtp://127.0.0.1:9', { MAIL_DKIM_SELECTOR: 'own1' });
  const { dkim } = await domainOf({ 'google._domainkey.news.society.example': ['p=abc'] }, settings);
  assert.deepEqual(dkim, { selectors: ['own1'], isSet: true, found: { said: null } });
});

test('a name server that does not answer says nothing about what is published', async () => {
  const { domain } = await askMail(nobody, sender, async () => {
    throw Object.assign(new Error('late'), { code: 'ETIMEOUT' });
  });
  const down = { down: 'DNS: ETIMEOUT' };
  assert.deepEqual([domain!.spf, domain!.dkim.found, domain!.dmarc], [down, down, down]);
});

test('of a stand-in nothing is looked up', async (t) => {
  const settings = { ...settingsOf(await mailServer(t)), isStandIn: true };
  const state = await askMail(settings, sender, async (name) => assert.fail(`${name} was looked up`));
  assert.deepEqual([state.connection, state.domain], [{ said: null }, null]);
});
