import type { TestContext } from 'node:test';

/**
 * Returns a function that takes what is to be done after a test. It is done last first, so that what was started first, such as a
 * database, ends after those who use it. (`t.after` does it in the order given.)
 */
export function endsOf(t: TestContext): (end: () => unknown) => void {
  const ends: (() => unknown)[] = [];
  t.after(async () => {
    for (const end of ends) await end();
  });
  return (end) => void ends.unshift(end);
}
