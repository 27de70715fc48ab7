import type { TestContext } from 'node:test';

/**
 * Returns a function that registers a test's clean-ups. After the test, they run in reverse order, so that, for example, a
 * database ends after the servers that use it. (`t.after` runs clean-ups in the order in which they were registered.)
 */
export function endsOf(t: TestContext): (end: () => unknown) => void {
  const ends: (() => unknown)[] = [];
  t.after(async () => {
    for (const end of ends) await end();
  });
  return (end) => void ends.unshift(end);
}
