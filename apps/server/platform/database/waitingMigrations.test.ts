import assert from 'node:assert/strict';
import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import pg from 'pg';
import { testDatabase } from '../../../../tests/harness/database.ts';
import { runOperator, settingsOf } from '../../../../tests/harness/serverProcess.ts';
import { temporaryFolder } from '../../../../tests/harness/temporaryFolder.ts';
import { sharedServer } from '../../../../tests/harness/testServer.ts';
import { migrate } from './migrate.ts';
import { waitingMigrations } from './waitingMigrations.ts';

const server = await sharedServer();
const all = join(import.meta.dirname, 'migrations');
const operator = (databaseUrl: string, ...args: string[]) =>
  runOperator({ ...settingsOf(server), DATABASE_URL: databaseUrl }, args);

async function database(t: { after(end: () => Promise<void>): void }) {
  const made = await testDatabase();
  const client = new pg.Client({ connectionString: made.url });
  await client.connect();
  t.after(async () => {
    await client.end();
    await made.drop();
  });
  await client.query('drop schema public cascade; create schema public');
  return { url: made.url, client };
}

test('a trial names what waits, with its words, and changes nothing', async (t) => {
  const { url, client } = await database(t);
  const empty = await operator(url, 'migrate', '--dry-run');
  assert.equal(empty.code, 0);
  assert.match(
    empty.output,
    /^0001-schema\.sql\n {2}The schema of Induct\.[\s\S]*\n\d+ to be run, each in one transaction\. Nothing/,
  );
  const { rows } = await client.query("select from pg_class where relnamespace = 'public'::regnamespace");
  assert.deepEqual(rows, []);
  await migrate(url);
  assert.deepEqual(
    await operator(url, 'migrate', '--dry-run').then(({ output, code }) => [output.trim(), code]),
    ['Nothing waits to be migrated.', 0],
  );
});

test('whether a database has people is known before it is changed', async (t) => {
  const { url, client } = await database(t);
  assert.equal((await waitingMigrations(url)).isEmpty, true);
  await migrate(url);
  const folder = temporaryFolder(t);
  cpSync(all, folder, { recursive: true });
  writeFileSync(
    join(folder, '0002-next.sql'),
    '-- One.\n-- oldest version: 0.1.0\n-- Two.\ncreate table thing (id text)',
  );
  const options = { migrations: folder };
  assert.equal((await waitingMigrations(url, options)).isEmpty, true);
  await client.query("insert into person (profile) values ('{}')");
  const { waiting, isEmpty } = await waitingMigrations(url, options);
  assert.deepEqual([isEmpty, waiting], [false, [{ name: '0002-next.sql', words: 'One. Two.' }]]);
});

test('a database that a newer version has changed is refused with a sentence, planned or not, and so is none', async (t) => {
  const { url, client } = await database(t);
  await migrate(url);
  await client.query(
    "insert into migration (name, checksum, oldest_version) values ('9999-later.sql', 'x', '99.0.0')",
  );
  for (const args of [['migrate', '--dry-run'], ['migrate']]) {
    const { output, code } = await operator(url, ...args);
    assert.equal(code, 1);
    assert.match(
      output,
      /^The database has seen the migration 9999-later\.sql, .* version 99\.0\.0 and later/,
    );
    assert.doesNotMatch(output, /\n +at /);
  }
  const away = await operator('postgres://127.0.0.1:9/nothing', 'migrate', '--dry-run');
  assert.equal(away.code, 1);
  assert.match(away.output, /^The database at 127\.0\.0\.1:9 cannot be reached/);
  assert.equal((await operator(url, 'migrate', '--plans')).code, 2);
});
