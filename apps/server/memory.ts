import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

// These are set while the program runs: on node's command line they would have node compile its own parts anew at each start.

/** V8 lets what outlives the nursery grow threefold under load until it is looked through, and keeps that memory; from now on by half. */
export function growSlowly(): void {
  setFlagsFromString('--heap-growing-percent=50');
}

let collect: ((options: { type: 'minor' }) => void) | undefined;

/** Gives back what died young, a millisecond or less. */
export function clearNursery(): void {
  if (!collect) {
    setFlagsFromString('--expose-gc');
    collect = runInNewContext('gc') as typeof collect;
  }
  collect!({ type: 'minor' });
}
