import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import type { TestServer } from './testServer.ts';

/** Returns each place that contains one of these texts: database columns as `table.column`, and files of the data folder. */
export async function placesIn({ deps }: TestServer, texts: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  const { rows: tables } = await sql<{ name: string }>`
    select table_name as name from information_schema.tables where table_schema = 'public'`.execute(
    deps.database,
  );
  for (const { name } of tables) {
    const { rows } = await sql<Record<string, unknown>>`select * from ${sql.table(name)}`.execute(
      deps.database,
    );
    for (const row of rows)
      for (const [column, value] of Object.entries(row)) {
        const written = Buffer.isBuffer(value) ? value.toString('latin1') : (JSON.stringify(value) ?? '');
        for (const text of texts)
          if (written.toLowerCase().includes(text.toLowerCase())) found.push(`${name}.${column}: ${text}`);
      }
  }
  for (const name of readdirSync(deps.config.dataDir, { recursive: true }) as string[]) {
    const path = join(deps.config.dataDir, name);
    // Skips the emulators' files, since their data are not Induct's.
    if (!statSync(path).isFile() || /hubspot|stripe|mail/.test(name)) continue;
    const bytes = readFileSync(path).toString('latin1').toLowerCase();
    for (const text of texts) if (bytes.includes(text.toLowerCase())) found.push(`${name}: ${text}`);
  }
  return found;
}
