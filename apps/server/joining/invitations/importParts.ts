import { sql } from 'kysely';
import type { Database } from '../../platform/database/client.ts';
import { NotCsv } from '../../platform/readCsv.ts';

/** The files that are kept for an import: the uploaded file, the refused lines, and the file with new codes. */
export type PartKind = 'file' | 'refused' | 'made';

const PART_BYTES = 1_000_000;
const NOT_WHOLE =
  'A part of this file is missing, so it was read only in part. Upload it again: what was imported of it changes nothing then.';

/** Writes a file of an import into the database, in parts, from the beginning. */
export class PartWriter {
  readonly #database: Database;
  readonly #id: number;
  readonly #kind: PartKind;
  #pieces: Buffer[] = [];
  #waiting = 0;
  #number = 0;
  /** How many bytes were added. */
  size = 0;

  constructor(database: Database, id: number, kind: PartKind) {
    this.#database = database;
    this.#id = id;
    this.#kind = kind;
  }

  add(piece: Buffer | string): void {
    const bytes = typeof piece === 'string' ? Buffer.from(piece) : piece;
    this.#pieces.push(bytes);
    this.#waiting += bytes.length;
    this.size += bytes.length;
  }

  /** Writes all added bytes as one part, if they fill one or `isEnd` is true. */
  async flush({ isEnd }: { isEnd: boolean }): Promise<void> {
    if (this.#waiting === 0 || (!isEnd && this.#waiting < PART_BYTES)) return;
    const content = Buffer.concat(this.#pieces);
    this.#pieces = [];
    this.#waiting = 0;
    await sql`
      insert into invitation_import_part (import_id, kind, number, content)
      values (${this.#id}, ${this.#kind}, ${this.#number++}, ${content})`.execute(this.#database);
  }
}

/** Yields a file of an import, part by part. */
export async function* partsOf(database: Database, id: number, kind: PartKind): AsyncGenerator<Buffer> {
  for (let number = 0; ; number++) {
    const { rows } = await sql<{ content: Buffer }>`
      select content from invitation_import_part
      where import_id = ${id} and kind = ${kind} and number = ${number}`.execute(database);
    if (!rows[0]) return;
    yield rows[0].content;
  }
}

/** Yields a file of an import like {@link partsOf}. Throws {@link NotCsv} if a part of it is missing. */
export async function* wholeOf(
  database: Database,
  { id, sizeBytes }: { id: number; sizeBytes: number },
  kind: PartKind,
): AsyncGenerator<Buffer> {
  let read = 0;
  for await (const part of partsOf(database, id, kind)) {
    read += part.length;
    yield part;
  }
  if (read !== sizeBytes) throw new NotCsv(NOT_WHOLE);
}

export async function deleteParts(
  database: Database,
  id: number,
  kinds: readonly PartKind[] = ['file', 'refused', 'made'],
): Promise<void> {
  await sql`delete from invitation_import_part where import_id = ${id} and kind = any(${kinds})`.execute(
    database,
  );
}
