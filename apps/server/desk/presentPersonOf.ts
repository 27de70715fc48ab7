import { presentId } from '../people/showPerson.ts';
import { Refusal } from '../platform/http/refusal.ts';
import type { Deps } from './deps.ts';

export const NOBODY = 'There is no such person, or they were erased.';

/**
 * Returns the number of the person in a call's path. If that person was merged into another, returns the other's number. Throws
 * 404 if there is no such person.
 */
export async function presentPersonOf(deps: Pick<Deps, 'database'>, params: { id: string }): Promise<number> {
  const id = await presentId(deps, Number(params.id));
  if (id === null) throw new Refusal(404, NOBODY);
  return id;
}
