import assert from 'node:assert/strict';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { sql } from 'kysely';
import { temporaryFolder } from '../../../../tests/harness/temporaryFolder.ts';
import { sharedServer } from '../../../../tests/harness/testServer.ts';
import { keepPageFiles, otherPageFile } from './pageFiles.ts';

const { deps } = await sharedServer();
const { database } = deps;

/** Makes a build of the web app with these files below /static. */
function build(t: TestContext, files: Record<string, string>): string {
  const folder = temporaryFolder(t);
  for (const [path, content] of Object.entries(files)) {
    const file = join(folder, 'static', path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
  }
  return folder;
}

const texts = async (...paths: string[]) =>
  Promise.all(paths.map(async (path) => (await otherPageFile(database, path))?.toString() ?? null));

test('while servers are replaced, each knows the files of the other’s page', async (t) => {
  const before = build(t, {
    'js/index.1.js': 'before',
    'js/index.1.js.br': 'compressed',
    'js/same.5.js': 'same',
  });
  const now = build(t, { 'js/index.2.js': 'now', 'countries/7/CA.json': '{}', 'js/same.5.js': 'same' });
  await Promise.all([keepPageFiles(database, before), keepPageFiles(database, now)]);
  assert.deepEqual(
    await texts(
      'js/index.1.js',
      'js/index.2.js',
      'js/same.5.js',
      'countries/7/CA.json',
      'js/index.1.js.br',
      'js/index.3.js',
    ),
    ['before', 'now', 'same', '{}', null, null],
  );
  rmSync(join(before, 'static/js/index.1.js'));
  await keepPageFiles(database, before);
  assert.deepEqual(await texts('js/index.1.js'), ['before'], 'a tab may still ask for it');
});

test('a file goes 30 days after the last start with its build', async (t) => {
  const builds = ['old', 'recent', 'again'].map((name) => build(t, { [`js/${name}.js`]: name }));
  for (const each of builds) await keepPageFiles(database, each);
  const startedBefore = (name: string, time: string) =>
    sql`update page_file set started_at = now() - ${time}::interval where path = ${`js/${name}.js`}`.execute(
      database,
    );
  await startedBefore('old', '30 days 1 minute');
  await startedBefore('recent', '29 days 23 hours');
  await startedBefore('again', '40 days');
  await keepPageFiles(database, builds[2]!);
  assert.deepEqual(await texts('js/old.js', 'js/recent.js', 'js/again.js'), [null, 'recent', 'again']);
});
