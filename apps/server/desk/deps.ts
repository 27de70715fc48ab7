import type { Deps as PeopleDeps } from '../people/deps.ts';

/** Who of staff is at the desk, and what may they do? The staff's own server and its calls. */
export interface Deps extends PeopleDeps {}
