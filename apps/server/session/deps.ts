import type { Deps as PlatformDeps } from '../platform/deps.ts';
import type { Society } from '../society/society.ts';
import type { Links } from './links.ts';
import type { Passes } from './passes.ts';

export interface Deps extends PlatformDeps {
  society: Society;
  links: Links;
  passes: Passes;
}
