import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

let collect: ((options: { type: 'minor' }) => void) | undefined;

/**
 * Gives back what died young, a millisecond or less. Allowed when it is first wanted: as a flag of the program, it would have node
 * compile its own parts anew at each start.
 */
export function clearNursery(): void {
  if (!collect) {
    setFlagsFromString('--expose-gc');
    collect = runInNewContext('gc') as typeof collect;
  }
  collect!({ type: 'minor' });
}
