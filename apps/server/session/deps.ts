import type { Deps as PlatformDeps } from '../platform/deps.ts';
import type { Society } from '../society/society.ts';
import type { Links } from './links.ts';
import type { Passes } from './passes.ts';

/** How does a join stand, who holds it, and who may go on with it? The lowest room: all others read joins through it. */
export interface Deps extends PlatformDeps {
  society: Society;
  links: Links;
  passes: Passes;
}
