import { dirname } from 'node:path';

/** How many test files share a process at most. The process runs their tests one after another. */
const MOST_TOGETHER = 22;
/**
 * The folders whose test files each need a separate process, since they test things that exist once per process, such as its
 * metrics.
 */
const apart = ['apps/server', 'apps/server/running'];

/** Whether the tests of a file start whole programs. */
export function startsPrograms(file: string): boolean {
  return /^(tests|tools)\//.test(file);
}

/**
 * Divides test files (paths from the root of the repository) into groups of one part of the project. Each group is for one
 * process, which loads the server only once. A file that starts whole programs, or needs a separate process, forms its own group.
 * Such groups come first.
 */
export function groupsOf(files: readonly string[]): string[][] {
  const isAlone = (file: string) => startsPrograms(file) || apart.includes(dirname(file));
  const { alone = [], together = [] } = Object.groupBy(files, (file) =>
    isAlone(file) ? 'alone' : 'together',
  );
  const byPart = Object.values(Object.groupBy(together, partOf)) as string[][];
  return [...alone.map((file) => [file]), ...byPart.flatMap(pieces)];
}

/**
 * Returns the part of the project to which a file belongs. Tests of different parts must not share a process, because tests of
 * pages replace browser functions that other tests use.
 */
function partOf(file: string): string {
  return file.split('/', file.startsWith('apps/') ? 2 : 1).join('/');
}

/**
 * Distributes files over the groups in turn, so that neighbouring files, which often take long for the same reason, are in
 * different groups.
 */
function pieces(files: readonly string[]): string[][] {
  const count = Math.ceil(files.length / MOST_TOGETHER);
  return Array.from({ length: count }, (_, group) => files.filter((_, index) => index % count === group));
}
