import assert from 'node:assert/strict';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { temporaryFolder } from '../../../../tests/harness/temporaryFolder.ts';
import { startTool } from './clientTools.ts';
import { BackupFault, type Manifest, PLATFORM, writeManifest } from './manifest.ts';
import { examineBackup, examineCopy } from './restore.ts';
import { putCluster, stopAndCopy } from './stoppedDatabase.ts';

const SHUT_DOWN = 1;
const IN_PRODUCTION = 6;

/** Makes files like those of a stopped database. */
function clusterIn(folder: string, state = SHUT_DOWN): string {
  const cluster = join(folder, 'cluster');
  for (const name of ['', 'global', 'base', 'base/1', 'pg_notify']) mkdirSync(join(cluster, name));
  const control = Buffer.alloc(64);
  control.writeUInt32LE(state, 16);
  writeFileSync(join(cluster, 'global/pg_control'), control);
  writeFileSync(join(cluster, 'base/1/1259'), 'rows');
  chmodSync(join(cluster, 'base/1/1259'), 0o644);
  return cluster;
}

/** Makes a backup of such files. Returns its folder, and the folder for a restore. */
async function copied(t: TestContext, change: Partial<Manifest> = {}) {
  const folder = temporaryFolder(t);
  const backup = join(folder, 'backup');
  mkdirSync(backup);
  const { files, copy } = await stopAndCopy({ cluster: clusterIn(folder), stop: async () => {} }, backup);
  const counts = { joins: 0, payments: 0, memberships: 0, documents: 0 };
  const manifest: Manifest = {
    ...{ format: 5, version: '1.0.0', postgres: 18, takenAt: '2026-11-28T00:00:00Z', schema: 'public' },
    ...{ migrations: [], counts, files, copy, absent: [], damaged: [], unchecked: [] },
    ...change,
  };
  await writeManifest(backup, manifest);
  return { backup, manifest, cluster: join(folder, 'restored') };
}

test('the files of a stopped database come back as they were, for their owner alone, with empty folders', async (t) => {
  const { backup, cluster } = await copied(t);
  const manifest = await examineCopy(backup, { cluster, postgres: 18 });
  mkdirSync(cluster);
  const given: string[] = [];
  await putCluster(backup, manifest, cluster, (path) => given.push(path.slice(cluster.length + 1)));
  const paths = ['base', 'base/1', 'base/1/1259', 'global', 'global/pg_control', 'pg_notify'];
  assert.deepEqual((readdirSync(cluster, { recursive: true }) as string[]).sort(), paths);
  assert.deepEqual(given.sort(), paths);
  assert.equal(readFileSync(join(cluster, 'base/1/1259'), 'utf8'), 'rows');
  for (const root of [join(backup, 'postgres'), cluster])
    for (const path of ['', ...paths]) {
      const stat = statSync(join(root, path));
      assert.equal(stat.mode & 0o777, stat.isDirectory() ? 0o700 : 0o600, path);
    }
});

test('a database that still runs, was not shut down cleanly, or has more than files is not copied', async (t) => {
  const folder = temporaryFolder(t);
  const backup = join(folder, 'backup');
  mkdirSync(backup);
  const cluster = clusterIn(folder, IN_PRODUCTION);
  const stop = async () => {};
  await assert.rejects(
    stopAndCopy({ cluster, stop }, backup),
    /did not shut down cleanly: nothing was copied/,
  );
  const used = new BackupFault('used');
  await assert.rejects(stopAndCopy({ cluster, stop: () => Promise.reject(used) }, backup), used);
  assert.deepEqual(readdirSync(backup), []);
  rmSync(cluster, { recursive: true });
  clusterIn(folder);
  symlinkSync('/tmp', join(cluster, 'pg_notify/16385'));
  await assert.rejects(
    stopAndCopy({ cluster, stop }, backup),
    /pg_notify\/16385 is neither a file nor a folder/,
  );
});

test('a copy that is damaged, incomplete, or of another PostgreSQL is refused before anything is changed', async (t) => {
  const postgres = 18;
  for (const [change, sentence] of [
    [
      (backup: string) => writeFileSync(join(backup, 'postgres/base/1/1259'), 'rowz'),
      /1259 of the backup was changed/,
    ],
    [(backup: string) => rmSync(join(backup, 'postgres/base/1/1259')), /1259 of the backup cannot be read/],
    [
      (backup: string) => rmSync(join(backup, 'manifest.json')),
      /A folder without it is no backup, or one that stopped half-way/,
    ],
    [(backup: string) => writeFileSync(join(backup, 'manifest.json'), '{"format":5'), /is not whole/],
    [
      (_: string, cluster: string) => mkdirSync(cluster),
      /There is a database in .*restored, and nothing in it is overwritten/,
    ],
  ] as const) {
    const { backup, cluster } = await copied(t);
    change(backup, cluster);
    await assert.rejects(examineCopy(backup, { cluster, postgres }), sentence);
  }
  const { manifest } = await copied(t);
  const copy = manifest.copy!;
  const [file] = Object.values(manifest.files);
  for (const [change, sentence] of [
    [{ postgres: 17 }, /of PostgreSQL 17 on \S+, which PostgreSQL 18 on \S+ cannot use/],
    [
      { copy: { ...copy, platform: 'plan9-mips' } },
      new RegExp(`on plan9-mips, which PostgreSQL 18 on ${PLATFORM} cannot use`),
    ],
    [{ migrations: ['9999-later.sql'] }, /whose tables this version .* does not know \(9999-later\.sql\)/],
    [{ format: 6 }, /is of a newer version of Induct/],
    [{ files: {} }, /is not the manifest of a backup/],
    [{ files: { ...manifest.files, 'postgres/../../stolen': file! } }, /is not the manifest of a backup/],
    [{ copy: { ...copy, folders: ['postgres/..'] } }, /is not the manifest of a backup/],
  ] as const) {
    const { backup, cluster } = await copied(t, change as Partial<Manifest>);
    await assert.rejects(examineCopy(backup, { cluster, postgres }), sentence);
    assert.equal(existsSync(cluster), false);
  }
});

test('a copy is not restored into a database of its own', async (t) => {
  const { backup } = await copied(t);
  await assert.rejects(
    examineBackup('postgres://127.0.0.1:1/none', backup),
    /restore it without DATABASE_URL/,
  );
});

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
