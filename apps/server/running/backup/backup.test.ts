import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { pathOf } from '#contract/calls.ts';
import { S3_BUCKET, startS3Emulator } from '../../../../emulators/s3/server.ts';
import {
  elsewhere,
  failLate,
  manifestOf,
  rowsOf,
  serverOnInstalledPostgres,
} from '../../../../tests/harness/backups.ts';
import { pdf } from '../../../../tests/harness/documents.ts';
import { lacksPostgres as skip } from '../../../../tests/harness/installedPostgres.ts';
import { runOperator, settingsOf } from '../../../../tests/harness/serverProcess.ts';
import { openIntent, orderingJoin, paidJoin, payByCard } from '../../../../tests/harness/steps.ts';
import { temporaryFolder } from '../../../../tests/harness/temporaryFolder.ts';
import { onlyLong } from '../../../../tests/harness/testLength.ts';
import { startTestServer } from '../../../../tests/harness/testServer.ts';
import { postPdf } from '../../../../tests/harness/uploads.ts';
import { freePort } from '../../../../tools/local/ports.ts';
import type { Config } from '../../platform/config/config.ts';
import { migrate, readMigrations } from '../../platform/database/migrate.ts';

const installed = serverOnInstalledPostgres();
const { run } = installed;

/** Makes a paid join with a unique transcript. Returns the document's storage key. */
async function uploaded(
  on = installed.server,
  bytes = pdf({ trailer: `/Of (${randomUUID()})` }),
): Promise<string> {
  const client = on.client();
  const { uuid } = await paidJoin(on, client);
  assert.equal((await postPdf(client, pathOf('uploadTranscript', { uuid }), { bytes })).status, 200);
  const { storage_key } = await on.deps.database
    .selectFrom('document')
    .select('storage_key')
    .where('session_uuid', '=', uuid)
    .executeTakeFirstOrThrow();
  return storage_key;
}

/** Makes a backup with at least one document. Returns its folder and that document's storage key. */
async function madeBackup(t: TestContext): Promise<{ folder: string; key: string }> {
  const key = await uploaded();
  const folder = join(temporaryFolder(t), 'backup');
  const { code, out } = await run(t, 'backup', [folder]);
  assert.equal(code, 0, out);
  return { folder, key };
}

const tables = "select from pg_class where relnamespace = 'public'::regnamespace";

/** The SQL that lists a schema's definitions: columns, constraints, indexes, triggers, functions, types, views and comments. */
const definitions = `
  select relname || '.' || attname || ' ' || format_type(atttypid, atttypmod) || ' ' || attnotnull || ' ' ||
      coalesce(pg_get_expr(adbin, adrelid), '') || coalesce(col_description(pg_class.oid, attnum), '') as text
    from pg_class join pg_attribute on attrelid = pg_class.oid and attnum > 0 and not attisdropped
    left join pg_attrdef on adrelid = pg_class.oid and adnum = attnum
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'v', 'S')
  union all select conrelid::regclass || ' ' || conname || ' ' || pg_get_constraintdef(oid)
    from pg_constraint where connamespace = 'public'::regnamespace and contype <> 'n'
  union all select indexdef from pg_indexes where schemaname = 'public'
  union all select pg_get_triggerdef(pg_trigger.oid) from pg_trigger join pg_class on pg_class.oid = tgrelid
    where relnamespace = 'public'::regnamespace and not tgisinternal
  union all select pg_get_functiondef(oid) from pg_proc where pronamespace = 'public'::regnamespace
  union all select typname || ' ' || enumlabel from pg_enum join pg_type on pg_type.oid = enumtypid
    where typnamespace = 'public'::regnamespace
  union all select relname || obj_description(oid) from pg_class
    where relnamespace = 'public'::regnamespace and obj_description(oid) is not null
  order by 1`;

/** Asserts that restoring a backup is refused with this sentence, and that the database and the documents stay empty. */
async function refuses(t: TestContext, folder: string, sentence: RegExp, args = ['--yes']): Promise<void> {
  const to = await elsewhere(t, installed);
  const { code, out } = await run(t, 'restore', [folder, ...args], to);
  assert.deepEqual([code, sentence.test(out)], [1, true], out);
  assert.deepEqual(await rowsOf(to.databaseUrl, tables), []);
  assert.equal(existsSync(to.documents) && readdirSync(to.documents).length > 0, false);
}

test('a backup is the database, every document and a manifest, for its owner alone, and comes back as it was, at the host that takes writes', {
  skip,
}, async (t) => {
  const key = await uploaded();
  const folder = join(temporaryFolder(t), 'backup');
  const { databaseUrl } = installed.server.deps.config;
  const nobody = await freePort();
  // A DATABASE_URL with two hosts. Nothing listens on the first, so PostgreSQL's tools must be given the second, which accepts
  // writes.
  const atSeveral = (url: string) => url.replace('@', `@127.0.0.1:${nobody},`);
  const made = await run(t, 'backup', [folder], { databaseUrl: atSeveral(databaseUrl) });
  assert.equal(made.code, 0, made.out);
  for (const [file, mode] of [
    ['', 0o700],
    ['documents', 0o700],
    ['manifest.json', 0o600],
    ['database.dump', 0o600],
    [`documents/${key}`, 0o600],
  ] as const)
    assert.equal(statSync(join(folder, file)).mode & 0o777, mode, file);
  const manifest = manifestOf(folder);
  assert.deepEqual(
    manifest.migrations,
    (await readMigrations()).map(({ name }) => name),
  );
  for (const [table, count] of [
    ['join_session', manifest.counts.joins],
    ['payment', manifest.counts.payments],
    ['membership', manifest.counts.memberships],
    ['document', manifest.counts.documents],
  ] as const)
    assert.equal((await rowsOf(databaseUrl, `select from ${table}`)).length, count, table);

  const to = await elsewhere(t, installed);
  const { code, out } = await run(t, 'restore', [folder, '--yes'], {
    ...to,
    databaseUrl: atSeveral(to.databaseUrl),
  });
  assert.equal(code, 0, out);
  assert.match(out, /Stripe knows of nothing that was paid since/);
  assert.deepEqual(
    readFileSync(join(to.documents, key)),
    readFileSync(join(installed.server.documents, key)),
    'byte for byte',
  );
  for (const table of [
    'join_session',
    'payment',
    'membership',
    'document',
    'letter',
    'join_event',
    'secret',
  ]) {
    const all = `select to_jsonb(${table}) as row from ${table} order by to_jsonb(${table})::text`;
    assert.deepEqual(await rowsOf(to.databaseUrl, all), await rowsOf(databaseUrl, all), table);
  }
  const [restored, saved] = [
    await rowsOf(to.databaseUrl, definitions),
    await rowsOf(databaseUrl, definitions),
  ];
  assert.ok(saved.length > 200);
  assert.deepEqual(restored, saved);
});

test('what was paid since a backup is told after its restore, though it was a moment ago, and events since are due', {
  skip,
}, async (t) => {
  const intent = await openIntent(installed.server.client(), await orderingJoin(installed.server.client()));
  await rowsOf(
    installed.server.deps.config.databaseUrl,
    `insert into schedule (name, due_at) values ('events', now() + interval '2 minutes')
     on conflict (name) do update set due_at = excluded.due_at`,
  );
  const { folder } = await madeBackup(t);
  await payByCard(installed.server, intent.id);
  const to = await elsewhere(t, installed);
  const { code, out } = await run(t, 'restore', [folder, '--yes'], to);
  assert.equal(code, 0, out);
  const due = "select from schedule where name = 'events' and due_at <= now()";
  assert.equal((await rowsOf(to.databaseUrl, due)).length, 1, 'though a server had claimed them');
  assert.ok(out.includes(intent.id), out);
  assert.match(out, /That happened since the backup\..*settle --missing/);
});

test('the journal of erasures goes with a backup, and a restore adds to the one that is there', {
  skip,
}, async (t) => {
  const line = (day: number) =>
    JSON.stringify({
      at: `2026-11-0${day}T00:00:00.000Z`,
      emails: ['a0'.repeat(16)],
      joins: [],
      contacts: [`${day}`],
    });
  const journal = join(installed.server.deps.config.dataDir, 'erasures.jsonl');
  writeFileSync(journal, `${line(1)}\n${line(2)}\n${line(3).slice(0, 30)}`);
  t.after(() => rmSync(journal));
  const { folder } = await madeBackup(t);
  assert.equal(statSync(join(folder, 'erasures.jsonl')).mode & 0o777, 0o600);

  const fresh = { ...(await elsewhere(t, installed)), dataDir: join(temporaryFolder(t), 'data') };
  const { code, out } = await run(t, 'restore', [folder, '--yes'], fresh);
  assert.deepEqual(
    [code, /^Of the backup's journal of erasures 2 entries were added to /m.test(out)],
    [0, true],
    out,
  );
  assert.equal(readFileSync(join(fresh.dataDir, 'erasures.jsonl'), 'utf8'), `${line(1)}\n${line(2)}\n`);

  const newer = { ...(await elsewhere(t, installed)), dataDir: temporaryFolder(t) };
  writeFileSync(join(newer.dataDir, 'erasures.jsonl'), `${line(2)}\n${line(4)}\n`);
  assert.equal((await run(t, 'restore', [folder, '--yes'], newer)).code, 0);
  assert.equal(
    readFileSync(join(newer.dataDir, 'erasures.jsonl'), 'utf8'),
    `${[2, 4, 1].map(line).join('\n')}\n`,
  );
});

test('documents in a bucket are saved from it and restored to it', { skip: onlyLong || skip }, async (t) => {
  const s3 = await startS3Emulator({ dataDir: temporaryFolder(t) });
  t.after(() => s3.close());
  const bucketed = await startTestServer(
    {
      STORAGE_URL: `s3://${S3_BUCKET}/before?endpoint=${s3.url}`,
      STORAGE_ACCESS_KEY_ID: s3.keys.accessKeyId,
      STORAGE_SECRET_ACCESS_KEY: s3.keys.secretAccessKey,
    },
    { postgresUrl: installed.postgres.url },
  );
  t.after(() => bucketed.close());
  const key = await uploaded(bucketed);
  const lost = await uploaded(bucketed);
  await bucketed.deps.storage.remove(lost);
  const folder = join(temporaryFolder(t), 'backup');
  const { config } = bucketed.deps;
  const saved = await run(t, 'backup', [folder], config);
  assert.equal(saved.code, 0, saved.out);
  assert.match(saved.out, new RegExp(`Document ${lost} is not in the storage`));
  assert.deepEqual(Object.keys(manifestOf(folder).files), ['database.dump', `documents/${key}`]);

  assert.equal(config.storage.kind, 's3');
  const to = {
    databaseUrl: await installed.postgres.emptyDatabase(),
    storage: { ...config.storage, prefix: 'after/' },
  };
  const { code, out } = await run(t, 'restore', [folder, '--yes'], { ...config, ...to } as Config);
  assert.equal(code, 0, out);
  const { openStorage } = await import('../../providers/storage/openStorage.ts');
  const storage = await openStorage({ ...config, ...to } as Config);
  const bytes = await (await storage.read(key)).toArray();
  assert.deepEqual(Buffer.concat(bytes), readFileSync(join(folder, 'documents', key)));
});

test('a document that is missing is named and is no error, unless retention has removed it; one that is damaged is an error', {
  skip: onlyLong || skip,
}, async (t) => {
  const [gone, damaged, forgotten] = [await uploaded(), await uploaded(), await uploaded()];
  t.after(() =>
    installed.server.deps.database
      .deleteFrom('document')
      .where('storage_key', 'in', [gone, damaged, forgotten])
      .execute(),
  );
  for (const key of [gone, forgotten]) rmSync(join(installed.server.documents, key));
  await installed.server.deps.database
    .updateTable('document')
    .set({ removed_at: new Date() })
    .where('storage_key', '=', forgotten)
    .execute();
  const folder = temporaryFolder(t);
  const first = await run(t, 'backup', [join(folder, '1')]);
  assert.deepEqual([first.code, first.out.includes(`Document ${gone} is not in the storage`)], [0, true]);
  appendFileSync(join(installed.server.documents, damaged), ' ');
  const second = await run(t, 'backup', [join(folder, '2')]);
  assert.deepEqual([second.code, second.out.includes(`Document ${damaged} is damaged`)], [1, true]);
  const manifest = manifestOf(join(folder, '2'));
  assert.deepEqual([manifest.absent, manifest.damaged], [[gone], [damaged]]);
  const to = await elsewhere(t, installed);
  const { code, out } = await run(t, 'restore', [join(folder, '2'), '--yes'], to);
  assert.equal(code, 0, out);
  for (const [key, why] of [
    [gone, 'was not in the storage'],
    [damaged, 'was damaged'],
  ])
    assert.match(out, new RegExp(`Document ${key} ${why}`));
  assert.equal(existsSync(join(to.documents, damaged)), false);
});

test('backup wants a folder that is new or empty, and writes nothing into another', { skip }, async (t) => {
  const parent = temporaryFolder(t);
  writeFileSync(join(parent, 'of-somebody'), '');
  const used = await run(t, 'backup', [parent]);
  assert.deepEqual(
    [used.code, /is not empty: give each backup a folder of its own/.test(used.out)],
    [1, true],
  );
  assert.deepEqual(readdirSync(parent), ['of-somebody']);
  const file = await run(t, 'backup', [join(parent, 'of-somebody')]);
  assert.deepEqual([file.code, /cannot be made or written/.test(file.out)], [1, true], file.out);
  const empty = join(parent, 'empty');
  mkdirSync(empty, { mode: 0o755 });
  assert.equal((await run(t, 'backup', [empty])).code, 0);
  assert.equal(statSync(empty).mode & 0o777, 0o700);
  const again = await run(t, 'backup', [empty]);
  assert.equal(again.code, 1, 'a backup is not written over');
});

/**
 * Creates a folder for PATH with a fake PostgreSQL tool. With --version the tool prints `version`; otherwise it runs `otherwise`.
 */
function impostor(
  t: TestContext,
  tool: 'pg_dump' | 'pg_restore',
  version: string,
  otherwise = 'exit 0',
): string {
  const folder = temporaryFolder(t);
  const script = `#!/bin/sh\nif [ "$1" = --version ]; then echo "${tool} (PostgreSQL) ${version}"; else ${otherwise}; fi\n`;
  writeFileSync(join(folder, tool), script);
  chmodSync(join(folder, tool), 0o755);
  return folder;
}

function withPath(t: TestContext, place: string): void {
  process.env.PATH = place;
  t.after(() => {
    process.env.PATH = installed.postgres.path;
  });
}

test('without pg_dump and pg_restore of the server version a sentence says which are needed', {
  skip,
}, async (t) => {
  const { folder } = await madeBackup(t);
  const to = join(temporaryFolder(t), 'backup');
  const hint = new RegExp(`Put the client tools of PostgreSQL ${installed.postgres.major} on PATH`);
  for (const [place, sentence] of [
    [temporaryFolder(t), /^pg_dump was not found\./],
    [impostor(t, 'pg_dump', '13.4 (Debian 13.4-1)'), /^pg_dump is of PostgreSQL 13, older than the server/],
    [impostor(t, 'pg_dump', '99.1'), /^pg_dump is of PostgreSQL 99, newer than the server/],
  ] as const) {
    withPath(t, place);
    const { code, out } = await run(t, 'backup', [to]);
    assert.deepEqual([code, sentence.test(out), hint.test(out), existsSync(to)], [1, true, true, false], out);
  }
  withPath(t, temporaryFolder(t));
  await refuses(t, folder, /^pg_restore was not found\./);
});

test('a backup that stops half-way has no manifest, and is none', { skip: onlyLong || skip }, async (t) => {
  const folder = temporaryFolder(t);
  const broken = impostor(
    t,
    'pg_dump',
    `${installed.postgres.major}.1`,
    'echo half; echo "connection lost" >&2; exit 1',
  );
  withPath(t, `${broken}:${installed.postgres.path}`);
  const { code, out } = await run(t, 'backup', [join(folder, 'dump')]);
  assert.deepEqual([code, /pg_dump failed: connection lost/.test(out)], [1, true], out);
  process.env.PATH = installed.postgres.path;
  await uploaded();
  const down = await run(t, 'backup', [join(folder, 'documents')], {
    storage: {
      kind: 's3',
      bucket: 'none',
      prefix: '',
      region: 'us-east-1',
      endpoint: 'http://127.0.0.1:9',
      checksums: 'supported',
      credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
    },
  });
  assert.deepEqual(
    [down.code, /storage of the documents does not answer/.test(down.out)],
    [1, true],
    down.out,
  );
  for (const name of ['dump', 'documents']) {
    assert.equal(existsSync(join(folder, name, 'manifest.json')), false);
    await refuses(t, join(folder, name), /A folder without it is no backup, or one that stopped half-way/);
  }
});

test('restore refuses what is not a whole backup, and changes nothing', { skip }, async (t) => {
  const { folder, key } = await madeBackup(t);
  await refuses(t, join(folder, 'nowhere'), /manifest\.json cannot be read/);
  const path = join(folder, 'manifest.json');
  const whole = readFileSync(path, 'utf8');
  const manifest = manifestOf(folder);
  const named = manifest.files[`documents/${key}`]!;
  for (const [text, sentence] of [
    [whole.slice(0, -20), /is not whole: it was cut off or changed/],
    ['[]', /is not the manifest of a backup/],
    [JSON.stringify({ ...manifest, files: {} }), /is not the manifest of a backup/],
    [
      JSON.stringify({ ...manifest, files: { ...manifest.files, '../../etc/passwd': named } }),
      /or it was changed/,
    ],
    [JSON.stringify({ ...manifest, format: 6, more: {} }), /of a newer version of Induct/],
    [JSON.stringify({ ...manifest, format: 4 }), /of a version before 1\.0: restore it with that one/],
    [
      JSON.stringify({
        ...manifest,
        version: '9.1.0',
        migrations: [...manifest.migrations, '0999-later.sql'],
      }),
      /of version 9\.1\.0, whose tables this version .* does not know \(0999-later\.sql\): restore it with version 9\.1\.0/,
    ],
    [JSON.stringify({ ...manifest, postgres: 99 }), /the server is \d+, which is older/],
  ] as const) {
    writeFileSync(path, text);
    await refuses(t, folder, sentence);
  }
  writeFileSync(path, whole);
  for (const file of ['database.dump', `documents/${key}`]) {
    const bytes = readFileSync(join(folder, file));
    const changed = Buffer.from(bytes);
    changed[changed.length >> 1]! ^= 1;
    writeFileSync(join(folder, file), changed);
    await refuses(t, folder, new RegExp(`${file} of the backup was changed`));
    rmSync(join(folder, file));
    await refuses(t, folder, new RegExp(`${file} of the backup cannot be read`));
    writeFileSync(join(folder, file), bytes);
  }
  await refuses(t, folder, /Nothing was changed: say yes, or give --yes/, []);
});

test('restore refuses a database with anything in it, be it migrated or not ours', { skip }, async (t) => {
  const { folder } = await madeBackup(t);
  const migrated = await installed.postgres.emptyDatabase();
  await migrate(migrated);
  const foreign = await installed.postgres.emptyDatabase();
  await rowsOf(foreign, 'create table of_somebody (id int)');
  for (const databaseUrl of [installed.server.deps.config.databaseUrl, migrated, foreign]) {
    const before = await rowsOf(databaseUrl, tables);
    const { code, out } = await run(t, 'restore', [folder, '--yes'], { databaseUrl });
    assert.deepEqual([code, /^The database is not empty/.test(out)], [1, true], out);
    assert.equal((await rowsOf(databaseUrl, tables)).length, before.length);
  }
});

test('a restore that fails leaves the database empty, and the same command works when the cause is mended', {
  skip,
}, async (t) => {
  const { folder, key } = await madeBackup(t);
  const to = await elsewhere(t, installed);
  await failLate(to.databaseUrl);
  const failed = await run(t, 'restore', [folder, '--yes'], to);
  assert.deepEqual(
    [failed.code, /no index here[\s\S]*the same command may be given again/.test(failed.out)],
    [1, true],
    failed.out,
  );
  assert.deepEqual(await rowsOf(to.databaseUrl, tables), []);
  await rowsOf(to.databaseUrl, 'drop event trigger refusing; drop function refuse()');
  // Changes one stored document. The restore must replace it with the backup's copy, and keep all other documents.
  writeFileSync(join(to.documents, key), 'another');
  const { code, out } = await run(t, 'restore', [folder, '--yes'], to);
  assert.equal(code, 0, out);
  assert.match(out, /; 1 documents were written/);
  assert.deepEqual(readFileSync(join(to.documents, key)), readFileSync(join(folder, 'documents', key)));
});

const migrations = await readMigrations();
test('a backup of an earlier version is brought to this one', {
  skip: onlyLong || skip || (migrations.length === 1 && 'there is no earlier version'),
}, async (t) => {
  const databaseUrl = await installed.postgres.emptyDatabase();
  const earlier = temporaryFolder(t);
  for (const { name, sql } of migrations.slice(0, -1)) writeFileSync(join(earlier, name), sql);
  await migrate(databaseUrl, { migrations: earlier });
  const folder = join(temporaryFolder(t), 'backup');
  const saved = await run(t, 'backup', [folder], { databaseUrl });
  assert.equal(saved.code, 0, saved.out);
  const to = await elsewhere(t, installed);
  const { code, out } = await run(t, 'restore', [folder, '--yes'], to);
  assert.equal(code, 0, out);
  assert.match(out, new RegExp(`Migration ${migrations.at(-1)!.name} was run`));
  assert.equal((await rowsOf(to.databaseUrl, 'select from migration')).length, migrations.length);
});

test('the command line saves as a process, without the password among its arguments or in a manifest', {
  skip,
}, async (t) => {
  const folder = join(temporaryFolder(t), 'backup');
  const settings = { ...settingsOf(installed.server), PATH: installed.postgres.path };
  const saved = await runOperator(settings, ['backup', folder]);
  assert.equal(saved.code, 0, saved.output);
  assert.doesNotMatch(saved.output + readFileSync(join(folder, 'manifest.json'), 'utf8'), /of a test|of%20a/);
});
