export type { Deps } from '../joining/deps.ts';
