import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

let collect: ((options: { type: 'minor' }) => void) | undefined;

/** By itself V8 keeps up to 64 MiB of buffers that nobody uses any more: it does not count them. */
const CLEAR_EVERY_BYTES = 4 * 1_048_576;
let unusedBytes = 0;

/** To be told of buffers that are used up. Counted of all uploads together: most are smaller than what is cleared at once. */
export function noteUsedUp(bytes: number): void {
  unusedBytes += bytes;
  if (unusedBytes < CLEAR_EVERY_BYTES) return;
  unusedBytes = 0;
  clearNursery();
}

/** What V8 has other threads do: for as little as this is, waking them takes longer, and what they free is not there at once. */
const BY_OTHERS = ['parallel-scavenge', 'concurrent-array-buffer-sweeping'];

/**
 * Gives back what died young, a millisecond or less. Allowed when it is first wanted: as a flag of the program, it would have node
 * compile its own parts anew at each start.
 */
function clearNursery(): void {
  if (!collect) {
    setFlagsFromString('--expose-gc');
    collect = runInNewContext('gc') as typeof collect;
  }
  for (const flag of BY_OTHERS) setFlagsFromString(`--no-${flag}`);
  collect!({ type: 'minor' });
  for (const flag of BY_OTHERS) setFlagsFromString(`--${flag}`);
}
