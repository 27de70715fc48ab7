import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { matchPath } from 'react-router';
import { screenAt, screenPaths } from '#core/navigation.ts';

const words = Object.values(screenPaths).flatMap((path) =>
  path.split('/').map((word) => word.replace(/^:.*/, '101')),
);
const segment = fc.oneof(
  fc.constantFrom(...words),
  fc.constantFrom(...words).map((word) => word.toUpperCase()),
  fc.stringMatching(/^[a-z0-9.-]{0,6}$/),
);

test('what the server takes for a screen is what the router shows one for', () => {
  const shown = (path: string) =>
    Object.values(screenPaths).some((pattern) => matchPath(pattern, path) !== null);
  fc.assert(
    fc.property(fc.array(segment, { minLength: 1, maxLength: 4 }), fc.boolean(), (segments, hasSlash) => {
      const path = `/${segments.join('/')}${hasSlash ? '/' : ''}`;
      assert.equal(screenAt(path) !== null, shown(path) || path === '/', path);
    }),
    { numRuns: 5_000 },
  );
});
