import type { Deps as PlatformDeps } from '../platform/deps.ts';
import type { Society } from '../society/society.ts';
import type { Links } from './links.ts';
import type { Passes } from './passes.ts';

/**
 * What `session` depends on. Its question: what is the state of a join, which browsers hold it, and who may continue it? The
 * other parts of the server that deal with joins build on this one.
 */
export interface Deps extends PlatformDeps {
  society: Society;
  links: Links;
  passes: Passes;
}
