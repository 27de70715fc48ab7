/** What `people` depends on. Its question: who is who? Finding, correcting, merging, exporting and erasing persons. */
export type { Deps } from '../joining/deps.ts';
