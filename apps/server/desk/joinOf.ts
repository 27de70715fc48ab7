import { joinNumbered } from '../people/nameJoins.ts';
import { Refusal } from '../platform/http/refusal.ts';
import type { Deps } from './deps.ts';
import { presentPersonOf } from './presentPersonOf.ts';

export const NO_JOIN = 'This person has no join of this number.';

/** Returns the uuid of the join with this number, of the person in the call's path. Throws 404 if there is none. */
export async function joinOf(
  deps: Pick<Deps, 'database'>,
  params: { id: string },
  number: number,
): Promise<string> {
  const uuid = await joinNumbered(deps, await presentPersonOf(deps, params), number);
  if (uuid === null) throw new Refusal(404, NO_JOIN);
  return uuid;
}
