import type { Data } from '#contract/schemas.ts';

/** What an answer may have for the screen after it, in place of that screen's first call. */
type Ahead = 'getMembershipDetails' | 'getCheckoutDetails';

/** It is true when it comes, and used once: a later visit asks anew. */
let kept: { name: Ahead; uuid: string; data: Data<Ahead> } | null = null;

export function keepAnswer<Name extends Ahead>(name: Name, uuid: string, data: Data<Name> | null): void {
  kept = data && { name, uuid, data };
}

export function takeAnswer<Name extends Ahead>(name: Name, uuid: string): Data<Name> | null {
  const data = kept?.name === name && kept.uuid === uuid ? (kept.data as Data<Name>) : null;
  kept = null;
  return data;
}
