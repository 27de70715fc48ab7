import type { Data } from '#contract/schemas.ts';
import { linkedScreen } from '#core/navigation.ts';
import { passToken, storeSession } from './session.ts';

/**
 * Stores a join in this browser. Returns the path to open: that of the link's screen, otherwise that of the screen where the join
 * continues.
 */
export function enter({ uuid, goOn, programme }: Data<'provePassByCode'>): string {
  passToken.drop();
  storeSession(uuid, programme);
  return linkedScreen(window.location.search) ?? goOn;
}
