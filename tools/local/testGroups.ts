import { dirname } from 'node:path';

/** How many test files share a process at most. Its tests run one after another. */
const MOST_TOGETHER = 8;
/** The folders whose test files each need a process of their own, since they test what a process has only once, such as its metrics. */
const apart = ['apps/server', 'apps/server/watch'];

/** Whether the tests of a file start whole programs. */
export function startsPrograms(file: string): boolean {
  return /^(tests|tools)\//.test(file);
}

/**
 * Divides test files (paths from the root of the repository) into groups, each for one process, which loads the server only once. A
 * group has files of one folder. A file that starts whole programs is a group of its own.
 */
export function groupsOf(files: readonly string[]): string[][] {
  const isAlone = (file: string) => startsPrograms(file) || apart.includes(dirname(file));
  const together = Map.groupBy(files, (file) => (isAlone(file) ? file : dirname(file)));
  return [...together.values()].flatMap(parts);
}

function parts(files: readonly string[]): string[][] {
  const rest = files.slice(MOST_TOGETHER);
  return [files.slice(0, MOST_TOGETHER), ...(rest.length > 0 ? parts(rest) : [])];
}
