import type { Deps as PlatformDeps } from '../platform/deps.ts';
import type { Deps as SessionDeps } from '../session/deps.ts';

/** Who of staff is at the desk, and what may they do? The staff's own server and its calls. */
export interface Deps extends PlatformDeps, Pick<SessionDeps, 'society'> {}
