import assert from 'node:assert/strict';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { placeCluster } from '../../tests/harness/database.ts';
import { pdf } from '../../tests/harness/documents.ts';
import { npmRun, npmStart } from '../../tests/harness/npmStart.ts';
import { temporaryFolder } from '../../tests/harness/temporaryFolder.ts';
import { onlyLong } from '../../tests/harness/testLength.ts';
import { freePort } from './ports.ts';

test('without fitting client tools, a stopped npm start is backed up by its folder, and restored from it', {
  skip: onlyLong,
}, async (t) => {
  // Only its owner may enter this folder, which has mode 700.
  const folder = temporaryFolder(t);
  const tools = join(folder, 'tools');
  mkdirSync(tools);
  writeFileSync(join(tools, 'pg_dump'), "#!/bin/sh\necho 'pg_dump (PostgreSQL) 15.14'\n");
  chmodSync(join(tools, 'pg_dump'), 0o755);
  const settings = {
    DATA_DIR: join(folder, 'data'),
    PORT: String(await freePort()),
    PATH: `${tools}:${process.env.PATH}`,
  };
  placeCluster(settings.DATA_DIR);
  const induct = await npmStart(settings);
  const form = new FormData();
  form.append('contactId', '101');
  form.append('file', new Blob([new Uint8Array(pdf())]), 'resume.pdf');
  const sent = await fetch(`${induct.url}/api/public/upload-resume`, { method: 'POST', body: form });
  assert.equal(sent.status, 200, await sent.text());

  const backup = join(folder, 'backup');
  const early = npmRun('operator', settings, ['backup', backup]);
  assert.equal(await early.ended, 1);
  assert.match(
    early.output(),
    /^pg_dump is of PostgreSQL 15, older than the server, which is 18\. .*postgresql-client-18.*\nSo the database must be stopped: end `npm start` \(process \d+\) first, and give the command again\.\n$/,
  );
  assert.equal(existsSync(backup), false);
  assert.equal(await induct.pressCtrlC(), 130);
  const made = npmRun('operator', settings, ['backup', backup]);
  assert.equal(await made.ended, 0, made.output());
  assert.match(
    made.output(),
    /\nSo the database is stopped, and its folder is copied\.\n.*, 1 of 1 documents; /,
  );

  const elsewhere = { ...settings, DATA_DIR: join(folder, 'elsewhere') };
  mkdirSync(elsewhere.DATA_DIR, { mode: 0o700 });
  copyFileSync(join(settings.DATA_DIR, 'document.key'), join(elsewhere.DATA_DIR, 'document.key'));
  const restored = npmRun('operator', elsewhere, ['restore', backup, '--yes']);
  assert.equal(await restored.ended, 0, restored.output());
  assert.match(
    restored.output(),
    /It is a copy of the folder of a stopped database\.\nDatabase and documents are restored/,
  );
  assert.equal(statSync(join(elsewhere.DATA_DIR, 'postgres')).mode & 0o777, 0o700);
  assert.equal(
    readdirSync(elsewhere.DATA_DIR).some((name) => name.includes('.new')),
    false,
  );
  const shown = npmRun('operator', elsewhere, ['documents', 'show', '101']);
  assert.equal(await shown.ended, 0, shown.output());
  const copy = join(folder, 'copy.pdf');
  const fetched = npmRun('operator', elsewhere, ['documents', 'fetch', shown.output().slice(0, 36), copy]);
  assert.equal(await fetched.ended, 0, fetched.output());
  assert.ok(readFileSync(copy).equals(pdf()));
  const again = npmRun('operator', elsewhere, ['restore', backup, '--yes']);
  assert.equal(await again.ended, 1);
  assert.match(again.output(), /There is a database in .*, and nothing in it is overwritten/);
});
