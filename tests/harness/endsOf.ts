import type { TestContext } from 'node:test';

/**
 * Returns a function to which a test gives its clean-ups. After the test, they run in reverse order, so that a database, for
 * example, ends after the servers that use it. (`t.after` runs clean-ups in the order in which they were given.)
 */
export function endsOf(t: TestContext): (end: () => unknown) => void {
  const ends: (() => unknown)[] = [];
  t.after(async () => {
    for (const end of ends) await end();
  });
  return (end) => void ends.unshift(end);
}
