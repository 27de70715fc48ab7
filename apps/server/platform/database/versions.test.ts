import assert from 'node:assert/strict';
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import pg from 'pg';
import { pdf } from '../../../../tests/harness/documents.ts';
import { checkOut, previousVersion } from '../../../../tests/harness/previousVersion.ts';
import {
  runOperator,
  type ServerProcess,
  settingsOf,
  startServerProcess,
  withSettings,
} from '../../../../tests/harness/serverProcess.ts';
import { societyFile } from '../../../../tests/harness/standIns.ts';
import { orderingJoin, payOrder } from '../../../../tests/harness/steps.ts';
import { isLong } from '../../../../tests/harness/testLength.ts';
import { browser, startTestServer, type TestServer } from '../../../../tests/harness/testServer.ts';
import { isLater, version } from '../version.ts';

/** The previous version's program, which must be able to run on this version's tables (docs/decisions/0020). */
const previous = previousVersion();
const skip =
  previous === null
    ? 'git has no version before this one here (a shallow clone, or no repository)'
    : previous.version.startsWith('0.') && 'databases of versions before 1.0 are refused';
const folder = mkdtempSync(join(tmpdir(), 'induct-previous-'));
const oldMain = join(folder, 'apps/server/main.ts');

/** A server that only provides the stand-ins and the empty database; the test makes no calls to it. */
let stage: TestServer;
let client: pg.Client;
const running: ServerProcess[] = [];
before(async () => {
  if (skip) return;
  checkOut(previous!.commit, folder);
  // Version 1.0 has no icon.png, which this version requires.
  copyFileSync(join(societyFile, '../icon.png'), join(folder, 'society/icon.png'));
  stage = await startTestServer({}, { hubspotLimits: 'off' });
  client = new pg.Client({ connectionString: stage.deps.config.databaseUrl });
  await client.connect();
  await client.query('drop schema public cascade; create schema public');
});
after(async () => {
  for (const server of running) await server.kill();
  await client?.end();
  await stage?.close();
  rmSync(folder, { recursive: true });
});

async function start(program?: string): Promise<ServerProcess> {
  // The previous version refuses settings that it does not know, so all servers get the society file of the previous version.
  const society = { SOCIETY_FILE: join(folder, 'society/society.yaml') };
  const server = await startServerProcess(withSettings(stage, society), program);
  running.push(server);
  return server;
}

let people = 0;
/**
 * Makes a whole join, from an invite code to the welcome page, with every purchase and upload. Calls before the payment go to each
 * of `urls` in turn; calls after it, to each of `afterwards` in turn.
 */
async function wholeJoin(urls: readonly string[], afterwards = urls): Promise<void> {
  let calls = 0;
  let turn = urls;
  const joiner = browser(() => turn[calls++ % turn.length]!);
  const person = { firstName: `Robin${++people}`, personalEmail: `robin${people}@example.com` };
  const uuid = await orderingJoin(joiner, 'LINCOLN2026', person);
  const params = { uuid };
  await joiner.call('setCustomDonation', { params, body: { amount: '12.50' } });
  const paid = await payOrder(stage, joiner, uuid);
  turn = afterwards;
  const offer = await joiner.call('getUpgradeDetails', { params });
  assert.equal(offer.data.isEligibleForUpgrade, true);
  const upgraded = await joiner.call('createUpgradeCharge', {
    params,
    body: { paymentIntent: paid.intentId },
  });
  assert.equal(upgraded.data.status, 'succeeded');
  const form = new FormData();
  form.append('file', new Blob([new Uint8Array(pdf())]), 'transcript.pdf');
  const path = `/api/public/join-session/${uuid}/upload-transcript`;
  assert.equal((await joiner.fetch(path, { method: 'POST', body: form })).status, 200);
  const welcome = await joiner.call('getWelcome', { params });
  assert.equal(welcome.status, 200);
  const { rows } = await client.query(
    'select count(*)::int as held from membership where session_uuid = $1 and is_held',
    [uuid],
  );
  assert.deepEqual(rows, [{ held: 2 }]);
}

test('the version before this one serves whole joins on the new tables, and beside this one', {
  skip,
}, async () => {
  const old = await start(oldMain);
  await wholeJoin([old.url]);
  const fresh = await start();
  await wholeJoin([old.url, fresh.url]);
  await wholeJoin([fresh.url, old.url]);
  let joins = 3;
  if (isLong) {
    await wholeJoin([old.url]);
    await wholeJoin([fresh.url]);
    await wholeJoin([old.url], [fresh.url]);
    await wholeJoin([fresh.url], [old.url]);
    await old.kill();
    const restarted = await start(oldMain);
    await wholeJoin([restarted.url]);
    await wholeJoin([restarted.url, fresh.url]);
    joins += 6;
  }

  const { output } = await runOperator(settingsOf(stage), ['reconcile']);
  assert.ok(
    output.includes(`${2 * joins} payments, ${joins} paid joins, ${2 * joins} memberships held; `),
    output,
  );
  assert.match(output, / 0 differences\./);
});

test('this version is later than the one before it', { skip }, () => {
  assert.equal(isLater(version, previous!.version), true);
});
