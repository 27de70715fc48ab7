import { sql } from 'kysely';
import { areAlike, followsOn, SHORTEST_CODE } from '#core/guessableCodes.ts';
import type { Guessable } from '#core/importDoubts.ts';
import type { Database } from '../../platform/database/client.ts';

const PAGE = 10_000;

/**
 * Finds guessable codes among the personal codes in this connection's table `import_seen`. Two similar codes are neighbours when
 * all codes are sorted by their first characters, or when they are sorted by their last ones. Two passes therefore find them in
 * constant memory.
 */
export async function findGuessable(connection: Database): Promise<Guessable[]> {
  const found = { short: none('short'), sequential: none('sequential'), alike: none('alike') };
  let last: { code: string; line: number } | null = null;
  for await (const row of sorted(connection, 'code')) {
    if (row.code.length < SHORTEST_CODE) note(found.short, row.line);
    if (last && followsOn(last.code, row.code)) note(found.sequential, last.line, row.line);
    else if (last && areAlike(last.code, row.code)) note(found.alike, last.line, row.line);
    last = row;
  }
  const fromTheEnd = none('alike');
  last = null;
  for await (const row of sorted(connection, 'reverse(code)')) {
    if (last && areAlike(last.code, row.code) && !followsOn(last.code, row.code))
      note(fromTheEnd, last.line, row.line);
    last = row;
  }
  const alike = fromTheEnd.count > found.alike.count ? fromTheEnd : found.alike;
  return [found.short, found.sequential, alike].filter(({ count }) => count > 0);
}

function none(kind: Guessable['kind']): Guessable {
  return { kind, count: 0, lines: [] };
}

function note(guessable: Guessable, ...lines: number[]): void {
  guessable.count++;
  if (guessable.lines.length === 0) guessable.lines = lines.sort((a, b) => a - b);
}

async function* sorted(
  connection: Database,
  by: 'code' | 'reverse(code)',
): AsyncGenerator<{ code: string; line: number }> {
  await sql`
    declare import_sorted cursor with hold for
    select code, line from import_seen where is_personal order by ${sql.raw(by)} collate "C"`.execute(
    connection,
  );
  try {
    for (;;) {
      const { rows } = await sql<{ code: string; line: number }>`
        fetch ${sql.lit(PAGE)} from import_sorted`.execute(connection);
      yield* rows;
      if (rows.length < PAGE) return;
    }
  } finally {
    await sql`close import_sorted`.execute(connection);
  }
}
