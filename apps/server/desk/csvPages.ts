import { csvLine } from '#core/csv.ts';

/** As many rows of a list are read at a time. */
export const FILE_ROWS = 1_000;

/** Returns a list as the pieces of a CSV file: its columns, and the cells of each page until there is no `next`. */
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
