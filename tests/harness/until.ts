import { setTimeout as pause } from 'node:timers/promises';

/** Calls `holds` again and again until it returns true. Rejects if that takes longer than `patience` (ms). */
export async function until(holds: () => boolean | Promise<boolean>, patience: number): Promise<void> {
  const deadline = Date.now() + patience;
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(`This did not hold within ${patience} ms: ${holds}`);
    await pause(25);
  }
}
