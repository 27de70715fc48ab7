import type { Deps as PeopleDeps } from '../people/deps.ts';

/**
 * What `desk` depends on. Its question: which member of staff is using the desk, and what may they do? The desk's server and its
 * calls.
 */
export interface Deps extends PeopleDeps {}
