import type { Data } from '#contract/schemas.ts';
import { linkedScreen } from '#core/navigation.ts';
import { passToken, storeSession } from './session.ts';

/**
 * Stores a join in this browser. Returns the path to go to: the screen to which the link leads, otherwise the screen where the
 * join continues.
 */
export function enter({ uuid, goOn, programme }: Data<'provePassByCode'>): string {
  passToken.drop();
  storeSession(uuid, programme);
  return linkedScreen(window.location.search) ?? goOn;
}
