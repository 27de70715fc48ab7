import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { sql } from 'kysely';
import { pathOf } from '#contract/calls.ts';
import { REJECTED_WITHOUT_REFUND, TRANSCRIPT_NOT_NEEDED } from '#documents/document.ts';
import { atHubspot, deliver } from '../../../tests/harness/deliver.ts';
import { jpeg, pdf } from '../../../tests/harness/documents.ts';
import { membershipOnly, undergraduate } from '../../../tests/harness/refunds.ts';
import { runAsStaff, runCommand } from '../../../tests/harness/runCommand.ts';
import { settingsOf } from '../../../tests/harness/serverProcess.ts';
import { orderingJoin, paidJoin } from '../../../tests/harness/steps.ts';
import { temporaryFolder } from '../../../tests/harness/temporaryFolder.ts';
import { limitWith, sharedServer } from '../../../tests/harness/testServer.ts';
import { upgradeByLink } from '../../../tests/harness/upgrades.ts';
import { postPdf, uploadsTo } from '../../../tests/harness/uploads.ts';
import { refundJoin } from '../paying/refunds/refundJoin.ts';
import { fileFaultOf } from '../platform/fileFault.ts';
import { attachDue } from './attachDocuments.ts';

const server = await sharedServer({ UPLOAD_MAX_BYTES: '5000000' }, { hubspotLimits: 'off' });
const { leavesNothing, rows, stored } = await uploadsTo(server);

/** Saves a file as staff do with the attachment of an email. Returns its path. */
function saved(t: TestContext, bytes: Buffer, name = 'transcript.pdf'): string {
  const path = join(temporaryFolder(t), name);
  writeFileSync(path, bytes);
  return path;
}

const add = (t: TestContext, ...args: string[]) => runCommand(t, server, 'documents add', args);
const documentsOf = async (uuid: string) => (await rows()).filter((row) => row.session_uuid === uuid);

test('a transcript that came by email is added by staff, ends what is asked of its member, and is accepted as any other', async (t) => {
  const { client, uuid } = await undergraduate(server);
  await sql`update join_session set paid_at = now() - interval '31 days' where uuid = ${uuid}`.execute(
    server.deps.database,
  );
  const owes = async () => (await client.call('getWelcome', { params: { uuid } })).data.owesTranscript;
  const isDue = async () => (await runCommand(t, server, 'documents due', [])).out.includes(uuid);
  assert.deepEqual([await owes(), await isDue()], [true, true]);
  const bytes = pdf({ size: 300_000 });
  const path = saved(t, bytes, 'From an email.pdf');
  const { out, code } = await runAsStaff(t, server, 'Robin', 'documents add', uuid, path);
  assert.deepEqual(
    [code, out],
    [
      0,
      `From an email.pdf (application/pdf, 292.97 KB) is added to join ${uuid} and waits for a decision: npm run operator -- documents accept ${uuid}\n`,
    ],
  );
  const [row, ...others] = await documentsOf(uuid);
  assert.deepEqual(others, []);
  assert.deepEqual([row?.kind, row?.name, row?.review], ['transcript', 'From an email.pdf', 'open']);
  assert.deepEqual(readFileSync(join(server.documents, row!.storage_key)), bytes);
  assert.deepEqual(readFileSync(path), bytes, "the staff's own copy stays");
  assert.deepEqual([await owes(), await isDue()], [false, false]);
  assert.match((await runCommand(t, server, 'story', [uuid])).out, /Transcript uploaded\..*staff \(Robin\)/);
  assert.match((await runCommand(t, server, 'documents list', [])).out, new RegExp(`${uuid} .* 1 file`));
  assert.equal((await runCommand(t, server, 'documents accept', [uuid])).code, 0);
});

test('HubSpot is told of a transcript that staff have added, and gets it', async (t) => {
  const { uuid } = await paidJoin(server, server.client(), 'HONOR104');
  assert.equal((await add(t, uuid, saved(t, pdf()))).code, 0);
  await deliver(server);
  const { transcript_received_at } = await atHubspot(server, '104', 'transcript_received_at');
  assert.ok(transcript_received_at);
  while ((await attachDue(server.deps, server.hubspot)) > 0);
  const [row] = await documentsOf(uuid);
  assert.ok(row!.crm_file_id && row!.crm_note_id);
});

test('a transcript that staff add to an upgrade by link is of its base, as an upload there', async (t) => {
  const base = await paidJoin(server, server.client(), 'HONOR102');
  const upgrade = await upgradeByLink(server, '102');
  const { out, code } = await add(t, upgrade.uuid, saved(t, pdf()));
  assert.deepEqual([code, out.includes(`is added to join ${base.uuid} and`)], [0, true]);
  assert.equal((await documentsOf(base.uuid)).length, 1);
});

test('staff add nothing where a joiner could upload nothing, and read why', async (t) => {
  const path = saved(t, pdf());
  const unpaid = await orderingJoin(server.client());
  const refused = (uuid: string) => leavesNothing(() => add(t, uuid, path));
  assert.deepEqual(await refused(unpaid), {
    code: 1,
    out: 'Nothing is added. Its joiner would read: Please complete your payment first.\n',
  });
  const nobody = '00000000-0000-4000-8000-000000000000';
  assert.deepEqual(await refused(nobody), {
    code: 1,
    out: `There is no join ${nobody}, or it was erased.\n`,
  });
  const client = server.client();
  const { uuid } = await paidJoin(server, client);
  limitWith(t, server, { LIMIT_UPLOADS_PER_SESSION: '1/60' });
  assert.equal((await postPdf(client, pathOf('uploadTranscript', { uuid }))).status, 200);
  assert.match((await refused(uuid)).out, /^Nothing is added\. Its joiner would read: Too many attempts\./);
  server.deps.config.limits = null;
  await sql`
    update document set review = 'rejected', reason = 'below-requirement', is_final = true, reviewed_at = now()
    where session_uuid = ${uuid}`.execute(server.deps.database);
  assert.deepEqual(await refused(uuid), {
    code: 1,
    out: `Nothing is added. Its joiner would read: ${REJECTED_WITHOUT_REFUND}\n`,
  });
});

test('no transcript is taken of a join whose membership has ended, of staff or its joiner, since nobody would look at it', async (t) => {
  const client = server.client();
  const { uuid } = await paidJoin(server, client);
  const link = await client.call('createUploadLink', { params: { uuid } });
  await refundJoin(server.deps, uuid, membershipOnly);
  const token = link.data.path.split('/').at(-1)!;
  const calls = await leavesNothing(() =>
    Promise.all([
      postPdf(client, pathOf('uploadTranscript', { uuid })),
      postPdf(client, pathOf('uploadByLink', { token })),
    ]),
  );
  for (const { status, json } of calls.map((answer) => ({ status: answer.status, json: answer.json() })))
    assert.deepEqual([status, ((await json) as { message: string }).message], [409, TRANSCRIPT_NOT_NEEDED]);
  for (const call of ['createUploadLink', 'getUploadLink'] as const) {
    const { status, message } = await client.call(call, { params: { uuid, token } });
    assert.deepEqual([status, message], [409, TRANSCRIPT_NOT_NEEDED], call);
  }
  assert.deepEqual(await leavesNothing(() => add(t, uuid, saved(t, pdf()))), {
    code: 1,
    out: `Nothing is added. Its joiner would read: ${TRANSCRIPT_NOT_NEEDED}\n`,
  });
});

for (const [what, bytes, name, sentence] of [
  ['empty', Buffer.alloc(0), 'a.pdf', /This file is empty/],
  ['of another format', Buffer.from('\0\0\0\x18ftypheic'), 'a.heic', /This is a HEIC photo/],
  ['of no format', Buffer.from('x'.repeat(100)), 'a.txt', /This type of file is not accepted/],
  ['not what its name says', Buffer.from('x'.repeat(100)), 'a.pdf', /is not what its name says/],
  ['too large', pdf({ size: 5_000_001 }), 'a.pdf', /This file is too large\. The limit is 4 MB\./],
] as const)
  test(`a file that is ${what} is not added, and staff read why`, async (t) => {
    const { uuid } = await paidJoin(server, server.client());
    const { out, code } = await leavesNothing(() => add(t, uuid, saved(t, bytes, name)));
    assert.equal(code, 1);
    assert.match(out, /^Nothing is added\. Its joiner would read: /);
    assert.match(out, sentence);
  });

test('a file is kept with an ending that opens it', async (t) => {
  const { uuid } = await paidJoin(server, server.client());
  const { out, code } = await add(t, uuid, saved(t, jpeg(), 'the "official" one.jfif'));
  assert.equal(code, 0);
  assert.match(out, /^the "official" one\.jpg \(image\/jpeg, /);
});

test('a file in which the virus scanner finds something is not added', async (t) => {
  server.deps.scanner = { scan: async () => 'EICAR' };
  t.after(() => (server.deps.scanner = null));
  const { uuid } = await paidJoin(server, server.client());
  const { out, code } = await leavesNothing(() => add(t, uuid, saved(t, pdf())));
  assert.deepEqual([code, /Our virus scanner found something/.test(out)], [1, true]);
});

test('a folder is not added, and a file that is not there is a sentence', async (t) => {
  const { uuid } = await paidJoin(server, server.client());
  const folder = join(temporaryFolder(t), 'a.pdf');
  mkdirSync(folder);
  assert.deepEqual(await add(t, uuid, folder), { code: 1, out: `${folder} is not a file.\n` });
  const missing = join(folder, 'b.pdf');
  await assert.rejects(add(t, uuid, missing), (error) => {
    assert.match(fileFaultOf(error)!, /^A file could not be read or written \(ENOENT\): .*\.$/);
    return fileFaultOf(error)!.includes(missing);
  });
});

test('where the storage fails, nothing is added and the cause is told', async (t) => {
  const { uuid } = await paidJoin(server, server.client());
  const fault = Object.assign(new Error('EIO'), { code: 'EIO' });
  t.mock.method(server.deps.storage, 'put', async () => {
    throw fault;
  });
  await leavesNothing(() => assert.rejects(add(t, uuid, saved(t, pdf())), fault));
});

test('when the command that adds a transcript is broken off there is no document, and it can be given again', async (t) => {
  const { uuid } = await paidJoin(server, server.client());
  const path = saved(t, pdf({ size: 200_000 }));
  // A scanner that never answers. When it gets a connection, the file has arrived and is being scanned.
  const scanner = createServer((socket) => socket.on('error', () => {}).resume());
  await new Promise<void>((resolve) => scanner.listen(0, '127.0.0.1', resolve));
  t.after(() => scanner.close());
  const before = stored();
  const broken = spawn(
    process.execPath,
    [
      '--disable-warning=ExperimentalWarning',
      join(import.meta.dirname, '../../staff/operator.ts'),
      'documents',
      'add',
      uuid,
      path,
    ],
    {
      env: { ...settingsOf(server), CLAMD_URL: `tcp://127.0.0.1:${(scanner.address() as AddressInfo).port}` },
      stdio: 'ignore',
    },
  );
  await Promise.race([once(scanner, 'connection'), once(broken, 'exit')]);
  broken.kill('SIGINT');
  assert.deepEqual(await once(broken, 'exit'), [null, 'SIGINT']);
  const left = stored().filter((name) => !before.includes(name));
  assert.deepEqual(
    [await documentsOf(uuid), left.filter((name) => !name.endsWith('.part'))],
    [[], []],
    'what is left is what an upload leaves that was cut, and is swept',
  );
  assert.equal((await add(t, uuid, path)).code, 0);
  assert.equal((await documentsOf(uuid)).length, 1);
  assert.match((await runCommand(t, server, 'documents show', [uuid])).out, /open\n {2}transcript\.pdf/);
});
