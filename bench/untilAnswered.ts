import { setTimeout as pause } from 'node:timers/promises';

const PATIENCE_MS = 120_000;

/** Asks again and again until the address answers with success, and gives how long that took (ms). `look` may throw to give up. */
export async function untilAnswered(url: string, look: () => void = () => {}): Promise<number> {
  const began = performance.now();
  for (;;) {
    const answer = await fetch(url).then(
      async (response) => {
        await response.arrayBuffer();
        return response.ok;
      },
      () => false,
    );
    const ms = performance.now() - began;
    if (answer) return ms;
    look();
    if (ms > PATIENCE_MS) throw new Error(`${url} did not answer within ${PATIENCE_MS / 1000} s.`);
    await pause(5);
  }
}
