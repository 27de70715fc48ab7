import assert from 'node:assert/strict';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { sql } from 'kysely';
import { askHubspot } from '../../tests/harness/providers.ts';
import { runCommand } from '../../tests/harness/runCommand.ts';
import { orderingJoin, paidJoin, payOrder } from '../../tests/harness/steps.ts';
import { temporaryFolder } from '../../tests/harness/temporaryFolder.ts';
import { sharedServer } from '../../tests/harness/testServer.ts';
import { erasePerson } from '../server/people/privacy/erasePerson.ts';
import { planErasure } from '../server/people/privacy/planErasure.ts';
import { StoppedErasing } from '../server/people/privacy/stoppedErasing.ts';
import { NotStored, StorageDown } from '../server/providers/storage/storage.ts';

/** Tests what the erase command prints: its receipt, and the progress of an erasure that stops midway. */
const server = await sharedServer({}, { hubspotLimits: 'off' });
const { deps } = server;

const erase = (t: TestContext, ...args: string[]) => runCommand(t, server, 'person erase', args);
async function isErased(uuid: string): Promise<boolean> {
  const { rows } = await sql`select from join_session where uuid = ${uuid} and erased_at is null`.execute(
    deps.database,
  );
  return rows.length === 0;
}
async function paid(email: string): Promise<string> {
  return (await paidJoin(server, server.client(), undefined, { personalEmail: email })).uuid;
}
const contactAtHubspot = async (email: string) =>
  (await askHubspot(server.hubspotUrl, 'POST', '', { properties: { email } })).id;
/** Makes every write to an open file fail as if the disk were full. */
async function fillDisk(t: TestContext, method: 'writeFile' | 'appendFile'): Promise<void> {
  const handle = await open(import.meta.filename);
  await handle.close();
  t.mock.method(Object.getPrototypeOf(handle) as FileHandle, method, async () => {
    throw Object.assign(new Error('ENOSPC: no space left on device, write'), {
      code: 'ENOSPC',
      syscall: 'write',
    });
  });
}

test('a receipt that cannot be written is told before anything is erased', async (t) => {
  const email = 'no.receipt@example.com';
  const uuid = await paid(email);
  const folder = temporaryFolder(t);
  for (const [to, sentence] of [
    [join(folder, 'none', 'receipt'), /^Nothing was erased: .*none\/receipt cannot be written \(ENOENT/m],
    [import.meta.filename, /^Nothing was erased: .* is there already\. Name a new file for the receipt\.$/m],
  ] as const) {
    const { code, out } = await erase(t, email, '--yes', '--to', to);
    assert.deepEqual([code, sentence.test(out), await isErased(uuid)], [1, true, false], out);
  }
  const to = join(folder, 'receipt');
  assert.match((await erase(t, email, '--to', to)).out, /Nothing was erased: say yes/);
  assert.match((await erase(t, email, '--dry-run', '--to', to)).out, /^join /);
  assert.ok(!existsSync(to), 'none is left of what was not erased');
  const { code, out } = await erase(t, email, '--yes', '--to', to);
  assert.deepEqual([code, out.endsWith(readFileSync(to, 'utf8'))], [0, true], out);
  assert.equal(statSync(to).mode % 0o1000, 0o600);
});

test('a receipt is printed, also when its file could not be written after all', async (t) => {
  const email = 'full.disk@example.com';
  const uuid = await paid(email);
  const to = join(temporaryFolder(t), 'receipt');
  await fillDisk(t, 'writeFile');
  const { code, out } = await erase(t, email, '--yes', '--to', to);
  assert.equal(code, 1);
  assert.match(
    out,
    /^Erased at 20[\s\S]*^Gone: 1 join[\s\S]*^The person is erased, and .* cannot be written \(ENOSPC/m,
  );
  assert.deepEqual([await isErased(uuid), existsSync(to)], [true, false]);
});

test('goods that were paid and not sent are told before the question, and in the receipt', async (t) => {
  const email = 'unsent@example.com';
  const client = server.client();
  const uuid = await orderingJoin(client, undefined, { personalEmail: email });
  const productUuid = '0b6f2f0e-58f1-4d38-9a4e-3f5a9f1f0030';
  await client.call('setSessionProduct', { params: { uuid }, body: { productUuid } });
  await payOrder(server, client, uuid);
  const asked = await erase(t, email);
  assert.match(
    asked.out,
    new RegExp(
      `^paid and not sent by join ${uuid}: Lapel Pin\\. The address goes, so that it cannot be sent`,
      'm',
    ),
  );
  const { out } = await erase(t, email, '--yes', '--to', join(temporaryFolder(t), 'receipt'));
  assert.match(
    out,
    new RegExp(`^Paid by join ${uuid} and never sent: Lapel Pin\\. The address is gone`, 'm'),
  );
});

test('a receipt names the versions that a bucket may keep', async (t) => {
  const email = 'in.a.bucket@example.com';
  await paid(email);
  const { config } = deps;
  t.after(() => Object.assign(deps, { config }));
  const storage = {
    kind: 's3',
    bucket: 'documents',
    prefix: '',
    region: null,
    endpoint: null,
    credentials: null,
  };
  Object.assign(deps, { config: { ...config, storage } });
  const { out } = await erase(t, email, '--yes');
  assert.match(out, /^Stays elsewhere: .*noncurrent versions of documents in the bucket/m);
});

const HOLDS_ON = { status: 503, headers: { 'stripe-should-retry': 'false' } };
test('while Stripe is down, what is erased at HubSpot already is told, and the same command goes on', async (t) => {
  const email = 'stripe.down@example.com';
  const uuid = await paid(email);
  const contact = await contactAtHubspot(email);
  const path = '/v1/payment_intents/*';
  await server.stripeFault({ kind: 'status', method: 'POST', path, times: 100, ...HOLDS_ON });
  t.after(() => server.stripeFault(null));
  const { code, out } = await erase(t, email, '--yes', '--hubspot');
  assert.equal(code, 1);
  assert.ok(
    out.endsWith(
      'Stripe does not answer. Erased at HubSpot: 1 contact and 0 files. Nothing was erased here; at Stripe a part may be gone. The same command goes on.\n',
    ),
    out,
  );
  assert.equal(await server.hubspot.getContact(contact, 5_000), null);
  assert.equal(await isErased(uuid), false);
  await server.stripeFault(null);
  assert.equal((await erase(t, email, '--yes', '--hubspot')).code, 0);
  assert.ok(await isErased(uuid));
});

test('a full disk is told as such, with what is erased already', async (t) => {
  const email = 'journal.full@example.com';
  const uuid = await paid(email);
  await fillDisk(t, 'appendFile');
  const { code, out } = await erase(t, email, '--yes');
  assert.equal(code, 1);
  assert.match(
    out,
    /\nThe disk is full: .* Erased at Stripe\. Nothing was erased here\. The same command goes on\.\n$/,
  );
  assert.equal(await isErased(uuid), false);
  t.mock.reset();
  assert.equal((await erase(t, email, '--yes')).code, 0);
});

test('a storage that does not answer is told as such, and what nobody expects is thrown', async (t) => {
  const email = 'storage.down@example.com';
  await paid(email);
  const seen = await planErasure(deps, email);
  for (const [fault, sentence] of [
    [
      new StorageDown('down'),
      /^The storage of the documents does not answer\. Erased at Stripe\. Nothing was erased here/,
    ],
    [new NotStored('a fault of the program'), /^Erased at Stripe\. Nothing was erased here\.$/],
  ] as const) {
    const works = t.mock.method(deps, 'now', () => {
      throw fault;
    });
    const stopped = await erasePerson(deps, seen).catch((error: unknown) => error);
    works.mock.restore();
    assert.ok(stopped instanceof StoppedErasing);
    assert.deepEqual([sentence.test(stopped.sentences), stopped.isFault], [true, fault instanceof NotStored]);
  }
});
