/** Who is who? Finding, correcting, merging, exporting and erasing persons. */
export type { Deps } from '../joining/deps.ts';
