import { presentId } from '../people/showPerson.ts';
import { Refusal } from '../platform/http/refusal.ts';
import type { Deps } from './deps.ts';

export const NOBODY = 'There is no such person, or they were erased.';

/** Returns the number of a call's person or, if they were merged, of whom they became. Throws 404 if there is nobody. */
export async function presentPersonOf(deps: Pick<Deps, 'database'>, params: { id: string }): Promise<number> {
  const id = await presentId(deps, Number(params.id));
  if (id === null) throw new Refusal(404, NOBODY);
  return id;
}
