import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { readOptions } from './options.ts';

test('every benchmark and option that the documents name is one', () => {
  const pages = globSync('{*.md,docs/*.md,lab/*/*.md}').map((path) => readFileSync(path, 'utf8'));
  const commands = pages.flatMap((page) => [...page.matchAll(/npm run lab -- bench((?: [\w-]+)*)/g)]);
  assert.ok(commands.length > 2);
  for (const [command, args] of commands)
    assert.doesNotThrow(() => readOptions(args!.split(' ').filter(Boolean)), command);
  assert.throws(() => readOptions(['nothing']), /There is no benchmark "nothing"/);
});
