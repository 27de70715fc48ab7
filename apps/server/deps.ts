import type { Deps as JoiningDeps } from './joining/deps.ts';
import type { Deps as RunningDeps } from './running/deps.ts';

/** The dependencies of all rooms. Built in wire.ts, and by tests. */
export interface Deps extends JoiningDeps, RunningDeps {}
