import { csvLine } from '#core/csv.ts';

/** The number of rows of a list that are read at a time. */
export const FILE_ROWS = 1_000;

/**
 * Yields a list as the pieces of a CSV file: first the columns, then the rows of each page. `load` returns a page and, as `next`,
 * the cursor of the page after it, which is null on the last page.
 */
export async function* csvPages<Cursor>(
  columns: readonly string[],
  load: (after: Cursor | null) => Promise<{ cells: string[][]; next: Cursor | null }>,
): AsyncGenerator<string> {
  yield csvLine(columns);
  for (let after: Cursor | null = null; ; ) {
    const { cells, next } = await load(after);
    yield cells.map(csvLine).join('');
    if (next === null) return;
    after = next;
  }
}
