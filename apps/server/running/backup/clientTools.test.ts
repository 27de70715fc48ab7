import assert from 'node:assert/strict';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from '../../../../tests/harness/temporaryFolder.ts';
import { startTool } from './clientTools.ts';

test("PostgreSQL's tools are given the address in their own terms, with the same meaning, and without the password", async (t) => {
  const folder = temporaryFolder(t);
  const said = join(folder, 'said');
  // A fake pg_dump that records its arguments.
  writeFileSync(join(folder, 'pg_dump'), `#!/bin/sh\necho "$*" > ${said}\n`);
  chmodSync(join(folder, 'pg_dump'), 0o755);
  const { PATH } = process.env;
  process.env.PATH = `${folder}:${PATH}`;
  t.after(() => {
    process.env.PATH = PATH;
  });
  const given = async (search: string) => {
    await startTool('pg_dump', ['--format=custom'], `postgres://induct:secret@db.example:5433/x${search}`)
      .ended;
    const [, shown] = /^--dbname=postgres:\/\/induct@db\.example:5433\/x(\S*) --format=custom$/m.exec(
      readFileSync(said, 'utf8'),
    )!;
    return shown;
  };
  for (const [search, expected] of [
    ['', ''],
    ['?sslmode=verify-full&sslrootcert=%2Fca.pem', '?sslmode=verify-full&sslrootcert=%2Fca.pem'],
    [
      '?uselibpqcompat=true&sslmode=verify-ca&sslrootcert=%2Fca.pem',
      '?sslmode=verify-ca&sslrootcert=%2Fca.pem',
    ],
    // sslrootcert is left out, because PostgreSQL's `require` would verify the certificate if a CA is given.
    ['?sslmode=no-verify&sslrootcert=%2Fca.pem', '?sslmode=require'],
    ['?ssl=no-verify', '?sslmode=require'],
    ['?ssl=1', '?sslmode=require'],
    ['?ssl=true', '?sslmode=require'],
    ['?ssl=0', '?sslmode=disable'],
    ['?ssl=0&sslmode=require', '?sslmode=require'],
    [
      '?target_session_attrs=read-write&statement_timeout=5&lock_timeout=5',
      '?target_session_attrs=read-write',
    ],
    ['?query_timeout=5&idle_in_transaction_session_timeout=5&connect_timeout=3', '?connect_timeout=3'],
  ] as const)
    assert.equal(await given(search), expected, search);
});

test("PostgreSQL's tools are given the password and none of our settings", async (t) => {
  const folder = temporaryFolder(t);
  const said = join(folder, 'said');
  writeFileSync(join(folder, 'pg_dump'), `#!/bin/sh\nenv > ${said}\n`);
  chmodSync(join(folder, 'pg_dump'), 0o755);
  const { PATH } = process.env;
  process.env.PATH = `${folder}:${PATH}`;
  process.env.LINK_SECRET = 'a secret of this test';
  t.after(() => {
    process.env.PATH = PATH;
    delete process.env.LINK_SECRET;
  });
  await startTool('pg_dump', [], 'postgres://induct:secr%40t@db.example/x').ended;
  const given = readFileSync(said, 'utf8');
  assert.match(given, /^PGPASSWORD=secr@t$/m);
  assert.doesNotMatch(given, /LINK_SECRET/);
});
