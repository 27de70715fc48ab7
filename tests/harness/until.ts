import { setTimeout as pause } from 'node:timers/promises';

/** The time (ms) after which a wait fails: far longer than anything takes, even on a busy machine. */
const GUARD_MS = 120_000;

/** Calls `holds` repeatedly until it returns true. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + GUARD_MS;
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(`This did not hold within ${GUARD_MS} ms: ${holds}`);
    await pause(25);
  }
}
