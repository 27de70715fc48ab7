import { useSyncExternalStore } from 'react';

/**
 * The reference of the server's last failure (`Failure['reference']`). The footer shows it even after the toast has disappeared.
 */
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
