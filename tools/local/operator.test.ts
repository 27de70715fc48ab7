import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import pg from 'pg';
import { placeCluster } from '../../tests/harness/database.ts';
import { pdf } from '../../tests/harness/documents.ts';
import { npmRun, npmStart } from '../../tests/harness/npmStart.ts';
import { temporaryFolder } from '../../tests/harness/temporaryFolder.ts';
import { onlyLong } from '../../tests/harness/testLength.ts';
import { freePort } from './ports.ts';

/** Makes a data folder with an empty PostgreSQL, and a file of invitations. */
function arrange(t: TestContext, line: string) {
  const folder = temporaryFolder(t);
  const file = join(folder, 'codes.csv');
  writeFileSync(file, `code,contactId,firstName,lastName,email,school\n${line}\n`);
  const settings = { DATA_DIR: join(folder, 'data') };
  placeCluster(settings.DATA_DIR);
  return { file, settings };
}

test('the operator imports while nothing runs, stops what it brought, prints nothing but its answer, and fails with a reason', async (t) => {
  const { file, settings } = arrange(t, 'NEW1,,,,,North High');
  const early = npmRun('operator', settings, ['invitations', 'import', file]);
  assert.equal(await early.ended, 1);
  assert.match(
    early.output(),
    /^The database is not at this version yet: .*npm run operator -- migrate`\.\n$/,
  );
  const migrated = npmRun('operator', settings, ['migrate']);
  assert.equal(await migrated.ended, 0, migrated.output());
  const first = npmRun('operator', settings, ['invitations', 'import', file]);
  assert.equal(await first.ended, 0, first.output());
  assert.equal(first.output(), '1 imported, 0 unchanged, 0 not taken.\n');
  assert.equal(existsSync(join(settings.DATA_DIR, 'postgres/postmaster.pid')), false);
});

test('npm start encrypts what is uploaded to it, by a key that stays; the operator works on what it serves, leaves it running, and reads that later', async (t) => {
  const { file, settings: data } = arrange(t, 'NEW1,,,,,North High');
  const settings = { ...data, PORT: String(await freePort()) };
  const induct = await npmStart(settings);
  const command = npmRun('operator', settings, ['invitations', 'import', file]);
  assert.equal(await command.ended, 0, command.output());
  const client = new pg.Client({ connectionString: induct.local.database.url });
  await client.connect();
  const { rows } = await client.query("select school from invitation where code = 'NEW1'");
  assert.deepEqual(rows, [{ school: 'North High' }]);

  const form = new FormData();
  form.append('contactId', '101');
  form.append('file', new Blob([new Uint8Array(pdf())]), 'resume.pdf');
  const sent = await fetch(`${induct.url}/api/public/upload-resume`, { method: 'POST', body: form });
  assert.equal(sent.status, 200, await sent.text());
  const documents = join(settings.DATA_DIR, 'documents');
  const stored = readdirSync(documents).sort();
  assert.equal(stored.length, 2);
  for (const name of stored) assert.equal(readFileSync(join(documents, name)).includes('%PDF'), false, name);
  assert.equal(statSync(join(settings.DATA_DIR, 'document.key')).mode & 0o777, 0o600);
  const uploaded = await client.query('select id from document');
  await client.end();
  assert.equal(await induct.pressCtrlC(), 130);
  const copy = join(settings.DATA_DIR, 'copy.pdf');
  const fetched = npmRun('operator', settings, ['documents', 'fetch', uploaded.rows[0].id, copy]);
  assert.equal(await fetched.ended, 0, fetched.output());
  assert.ok(readFileSync(copy).equals(pdf()));
});

test('help needs neither a database nor a folder', { skip: onlyLong }, async (t) => {
  const command = npmRun('operator', { DATA_DIR: join(temporaryFolder(t), 'data') }, ['help']);
  assert.equal(await command.ended, 0);
  assert.match(command.output(), /invitations import FILE\.csv/);
});
