import type { Data } from '#contract/schemas.ts';
import { linkedScreen } from '#core/navigation.ts';
import { drop, storeSession } from '../../lib/session.ts';

/** Makes this browser continue a join. Returns the path to go to: the screen that the link named, or where the join goes on. */
export function enter({ uuid, goOn }: Data<'provePassByCode'>): string {
  drop('joinPass');
  storeSession(uuid);
  return linkedScreen(window.location.search) ?? goOn;
}
