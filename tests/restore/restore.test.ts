import assert from 'node:assert/strict';
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { test } from 'node:test';
import pg from 'pg';
import { pathOf } from '#contract/calls.ts';
import { pdf } from '../harness/documents.ts';
import { lacksPostgres, startInstalledPostgres } from '../harness/installedPostgres.ts';
import { listStripe } from '../harness/providers.ts';
import { runOperator, settingsOf, startServerProcess } from '../harness/serverProcess.ts';
import { openIntent, orderingJoin, paidJoin, payByCard, payOrder } from '../harness/steps.ts';
import { temporaryFolder } from '../harness/temporaryFolder.ts';
import { onlyLong } from '../harness/testLength.ts';
import { browser, type Client, startTestServer } from '../harness/testServer.ts';
import { until } from '../harness/until.ts';
import { postPdf } from '../harness/uploads.ts';

/** How many joins are made before the backup; as many are made after it. */
const JOINS = 100;
/** The size of a document (bytes). */
const SIZE = 2_000_000;

interface Intent {
  id: string;
  status: string;
  metadata: Record<string, string>;
}

test('after a total loss a backup brings back every paid member, every document, and joins that were begun', {
  skip: onlyLong || lacksPostgres,
}, async (t) => {
  const postgres = await startInstalledPostgres();
  // The stand-ins outlive the server, as Stripe does when the server's machine is lost. The server runs in its own process,
  // which is killed.
  const settings = { DOCUMENT_KEY: randomBytes(32).toString('hex') };
  const world = await startTestServer(settings, { postgresUrl: postgres.url });
  const operator = (on: typeof world, ...args: string[]) =>
    runOperator({ ...settingsOf(on), PATH: postgres.path }, args);
  let isMade = false;
  let server = await startServerProcess(world);
  // The order matters: a server is closed only after everything that calls it.
  t.after(async () => {
    isMade = true;
    await server.kill();
    await world.close();
    await postgres.stop();
  });
  /** Returns a browser that keeps its cookies and finds the server even after it was replaced. */
  const visitor = () => browser(() => server.url);
  let people = 0;
  const somebody = () => ({ personalEmail: `joiner${++people}@example.com`, lastName: `Joiner ${people}` });
  const hashes = new Set<string>();
  const send = async (client: Client, uuid: string) => {
    const bytes = pdf({ size: SIZE, trailer: `/Of (${randomUUID()})` });
    const answer = await postPdf(client, pathOf('uploadTranscript', { uuid }), { bytes });
    assert.equal(answer.status, 200, await answer.text());
    return createHash('sha256').update(bytes).digest('hex');
  };
  const joinAndSend = async () => {
    const client = visitor();
    const { uuid } = await paidJoin(world, client, 'LINCOLN2026', somebody());
    return send(client, uuid);
  };

  // Before the backup: members with documents, a member who is erased later, a join at Checkout, and two joins with an open
  // payment intent. The joiner of one of these two never comes back.
  for (let number = 0; number < JOINS; number++) hashes.add(await joinAndSend());
  const forgotten = somebody();
  const forgottenJoin = (await paidJoin(world, visitor(), 'LINCOLN2026', forgotten)).uuid;
  const begun = visitor();
  const begunJoin = await orderingJoin(begun, 'LINCOLN2026', somebody());
  const paying = visitor();
  const payingJoin = await orderingJoin(paying, 'LINCOLN2026', somebody());
  const payingIntent = await openIntent(paying, payingJoin);
  const leaving = visitor();
  const leftIntent = await openIntent(leaving, await orderingJoin(leaving, 'LINCOLN2026', somebody()));
  await paying.call('beginPayment', {
    params: { uuid: payingJoin },
    body: { revision: payingIntent.revision },
  });

  // Makes the backup while more people join. Only some of these joins are in the backup.
  const folder = join(temporaryFolder(t), 'backup');
  const joinOn = async () => {
    do await joinAndSend();
    while (!isMade);
  };
  const meanwhile = Promise.all([joinOn(), joinOn()]);
  const beganBackup = performance.now();
  const backup = await operator(world, 'backup', folder);
  const backupSeconds = (performance.now() - beganBackup) / 1_000;
  isMade = true;
  await meanwhile;
  assert.equal(backup.code, 0, backup.output);
  const manifest = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8'));
  assert.deepEqual([manifest.absent, manifest.damaged], [[], []], 'each document was there before its row');
  // The backup has the dump of the database, and for each document its bytes and its envelope.
  assert.equal(Object.keys(manifest.files).length, 1 + 2 * manifest.counts.documents);

  // After the backup: more members, the two open payments succeed, a person is erased, and a join begins.
  for (let number = 0; number < JOINS; number++) await joinAndSend();
  for (const { id } of [payingIntent, leftIntent]) await payByCard(world, id);
  const erased = await operator(world, 'person', 'erase', forgotten.personalEmail, '--yes');
  assert.equal(erased.code, 0, erased.output);
  const late = visitor();
  const lateJoin = await orderingJoin(late, 'LINCOLN2026', somebody());
  const sessionsBefore = await world.deps.database.selectFrom('join_session').select('uuid').execute();

  // Everything is lost except what Stripe and the backup have.
  await server.kill();
  const { pathname } = new URL(world.deps.config.databaseUrl);
  const admin = new pg.Client({ connectionString: postgres.url });
  await admin.connect();
  const lost = pathname.slice(1);
  await admin.query(`drop database ${lost} with (force)`);
  await admin.query(`create database ${lost}`);
  await admin.end();
  rmSync(world.documents, { recursive: true, force: true });

  const beganRestore = performance.now();
  const restored = await operator(world, 'restore', folder, '--yes');
  const restoreSeconds = (performance.now() - beganRestore) / 1_000;
  assert.equal(restored.code, 0, restored.output);
  assert.match(restored.output, /settle --missing$[\s\S]*person erase --again$/m);
  for (const { id } of [payingIntent, leftIntent])
    assert.match(restored.output, new RegExp(id), 'what was paid since is named');

  const rows = async <Row extends pg.QueryResultRow>(statement: string): Promise<Row[]> => {
    const client = new pg.Client({ connectionString: world.deps.config.databaseUrl });
    await client.connect();
    return (await client.query<Row>(statement).finally(() => client.end())).rows;
  };
  const documents = await rows<{ storage_key: string; sha256: string }>(
    "select storage_key, encode(sha256, 'hex') as sha256 from document",
  );
  assert.equal(documents.length, manifest.counts.documents);
  for (const { storage_key, sha256 } of documents) {
    const stored = readFileSync(join(world.documents, storage_key), 'latin1');
    assert.ok(!stored.includes('%PDF'), 'it is encrypted');
    const bytes = await buffer(await world.deps.storage.read(storage_key));
    assert.equal(createHash('sha256').update(bytes).digest('hex'), sha256);
    hashes.delete(sha256);
  }
  assert.equal(hashes.size, 0, 'every document from before the backup is here');

  const settled = await operator(world, 'settle', '--missing');
  assert.equal(settled.code, 0, settled.output);
  const madeAgain = Number(/^(\d+) payments? (was|were) not in this database/m.exec(settled.output)![1]);
  assert.ok(madeAgain >= JOINS, settled.output);

  const isForgotten = async () =>
    (
      await rows<{ is: boolean }>(
        `select details is null as is from join_session where uuid = '${forgottenJoin}'`,
      )
    )[0]!.is;
  assert.equal(await isForgotten(), false, 'the backup brought them back');
  const erasedAgain = await operator(world, 'person', 'erase', '--again');
  assert.equal(erasedAgain.code, 0, erasedAgain.output);
  assert.equal(await isForgotten(), true);

  // The server runs again, and joins that had begun continue.
  server = await startServerProcess(world);
  const { data } = await begun.call('getCheckoutDetails', { params: { uuid: begunJoin } });
  assert.equal(data.products.length, 1, 'the order of before');
  await payOrder(world, begun, begunJoin);
  await paying.call('postPayment', {
    params: { uuid: payingJoin },
    body: {
      paymentIntent: payingIntent.id,
      paymentIntentClientSecret: payingIntent.clientSecret,
      redirectStatus: 'succeeded',
    },
  });
  await joinAndSend();
  assert.equal((await late.call('getCheckoutDetails', { params: { uuid: lateJoin } })).status, 404);

  // Each payment at Stripe has exactly one membership here.
  const paid = (await listStripe<Intent>(world.stripeUrl, 'payment_intents')).filter(
    ({ status }) => status === 'succeeded',
  );
  const members = async () =>
    (await rows<{ intent: string }>('select payment_intent as intent from membership where is_held')).map(
      ({ intent }) => intent,
    );
  await until(async () => (await members()).length === paid.length);
  assert.deepEqual((await members()).sort(), paid.map(({ id }) => id).sort());
  const compared = await operator(world, 'reconcile');
  assert.equal(compared.code, 0, compared.output);

  const here = new Set(
    (await rows<{ uuid: string }>('select uuid from join_session')).map(({ uuid }) => uuid),
  );
  const gone = sessionsBefore.filter(({ uuid }) => !here.has(uuid)).length;
  console.log(
    `Backup of ${manifest.counts.joins} joins and ${manifest.counts.documents} documents while people joined: ${backupSeconds.toFixed(1)} s. ` +
      `Restore and reconcile: ${restoreSeconds.toFixed(1)} s. ` +
      `Of ${sessionsBefore.length} joins ${madeAgain} were paid after the snapshot and made again by settle --missing; ${gone} begun after it ${gone === 1 ? 'is' : 'are'} lost.`,
  );
});
