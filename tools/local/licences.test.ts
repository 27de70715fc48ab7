import assert from 'node:assert/strict';
import { test } from 'node:test';
import { licenceFaults } from './licences.ts';

test('a licence that is not allowed or missing is told with its package, and so is one that is accepted in vain', () => {
  const packages = {
    '': {},
    'node_modules/fine': { version: '1.0.0', license: 'MIT' },
    'node_modules/fine/node_modules/@x/b': { version: '1.0.0', license: 'AGPL-3.0-only' },
    'node_modules/none': { version: '2.0.0' },
    'node_modules/known': { version: '3.0.0', license: 'MPL-2.0' },
  };
  const accepted = ['known', 'gone'].map((name) => ({
    package: name,
    licence: 'MPL-2.0',
    why: 'Tests run it.',
  }));
  assert.deepEqual(licenceFaults({ packages }, { allowed: ['MIT'], accepted }), [
    '@x/b 1.0.0: the licence AGPL-3.0-only is not among those allowed (tools/local/licences.json).',
    'none 2.0.0: names no licence (tools/local/licences.json).',
    'tools/local/licences.json accepts a licence of gone, which no package needs.',
  ]);
});
