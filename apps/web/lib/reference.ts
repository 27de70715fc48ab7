import { useSyncExternalStore } from 'react';

/** What staff find the server's last failure by (`Failure['reference']`). A toast goes; this stays for as long as the page does. */
let last: string | null = null;
const listeners = new Set<() => void>();

export function keepReference(reference: string): void {
  last = reference;
  for (const listener of listeners) listener();
}

export function useLastReference(): string | null {
  return useSyncExternalStore(
    subscribe,
    () => last,
    () => null,
  );
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
