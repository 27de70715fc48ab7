export type { Deps } from '../paying/deps.ts';
