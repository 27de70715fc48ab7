import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pdf } from '../../tests/harness/documents.ts';
import { encryptedByQpdf, lacks } from '../../tests/harness/pdfTools.ts';
import { inspectDocument } from './inspectDocument.ts';

const ciphers: [string, string[][]][] = [
  ['40', [[], ['--print=n'], ['--modify=n', '--extract=n']]],
  ['128', [[], ['--print=none'], ['--use-aes=y'], ['--use-aes=y', '--extract=n', '--cleartext-metadata']]],
  ['256', [[], ['--print=none'], ['--modify=none', '--extract=n', '--print=low'], ['--force-R5']]],
];
for (const [bits, permissions] of ciphers)
  for (const options of permissions)
    test(`what decides about a PDF that qpdf encrypted with ${[bits, ...options].join(' ')} is its password`, {
      skip: lacks('qpdf'),
    }, async () => {
      for (const user of ['', 'u'])
        for (const owner of ['', 'o']) {
          const insecure = bits === '256' && user !== '' && owner === '' ? ['--allow-insecure'] : [];
          const content = encryptedByQpdf(pdf(), [user, owner, bits, ...insecure, ...options]);
          const inspection = await inspectDocument({
            size: content.length,
            read: async (start, length) => Uint8Array.from(content.subarray(start, start + length)),
          });
          const expected = user === '' ? { type: 'application/pdf' } : { fault: 'pdfProtected' };
          assert.deepEqual(inspection, expected, `user ${user || 'none'}, owner ${owner || 'none'}`);
        }
    });
