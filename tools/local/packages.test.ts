import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { packagesImportedBy, running, sourcesIn } from './packages.ts';

const manifest: Record<'dependencies' | 'devDependencies', Record<string, string>> = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8'),
);
const dependencies = Object.keys(manifest.dependencies);
const sources = sourcesIn(running);

test('what runs in production imports nothing but dependencies, and the image has those alone', () => {
  const imported = packagesImportedBy(sources);
  assert.ok(imported.includes('kysely') && imported.includes('@aws-sdk/client-s3'));
  assert.deepEqual(
    imported.filter((name) => !dependencies.includes(name)),
    [],
  );
});

test('every dependency is needed by what runs in production: what only builds, tests or stands in is a devDependency', () => {
  assert.deepEqual(
    // Searches for the package's name as text, because code that only reads a package's files does not import it.
    dependencies.filter((name) => !sources.includes(`'${name}'`) && !sources.includes(`'${name}/`)),
    [],
  );
});

test('a package is in one group, and each group is sorted', () => {
  assert.deepEqual(
    dependencies.filter((name) => name in manifest.devDependencies),
    [],
  );
  for (const group of [manifest.dependencies, manifest.devDependencies])
    assert.deepEqual(Object.keys(group), Object.keys(group).toSorted());
});

test('nothing imports the laboratory, whose packages nobody else needs', () => {
  const others = sourcesIn(['apps', 'emulators', 'packages', 'tests', 'tools']);
  assert.doesNotMatch(others, /(?:from|import\()\s*'[./]+\/lab\//);
});
