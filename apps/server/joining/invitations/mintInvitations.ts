import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { MINTED_BYTES, mintedCode } from '#core/mintedCode.ts';
import type { Database } from '../../platform/database/client.ts';

const BATCH = 1000;

/**
 * Yields each invitation with a new, unused code. Works in batches, so that memory does not grow with the number of invitations.
 * Stores no invitations: the caller writes the codes to a file that is imported later.
 */
export async function* mintCodes<Invitation>(
  database: Database,
  invitations: AsyncIterable<Invitation> | Iterable<Invitation>,
  random: (bytes: number) => Uint8Array = randomBytes,
): AsyncGenerator<{ code: string; invitation: Invitation }> {
  let batch: Invitation[] = [];
  const given = new Given(database, random);
  try {
    for await (const invitation of invitations) {
      batch.push(invitation);
      if (batch.length < BATCH) continue;
      yield* coded(batch, await given.take(batch.length));
      batch = [];
    }
    yield* coded(batch, await given.take(batch.length));
  } finally {
    await given.end();
  }
}

function* coded<Invitation>(invitations: Invitation[], codes: string[]) {
  for (const [index, invitation] of invitations.entries()) yield { code: codes[index]!, invitation };
}

/** The codes that this run has given out, in a temporary table of one connection. */
class Given {
  readonly #database: Database;
  readonly #random: (bytes: number) => Uint8Array;
  #connection: Promise<{ database: Database; end: () => void }> | null = null;

  constructor(database: Database, random: (bytes: number) => Uint8Array) {
    this.#database = database;
    this.#random = random;
  }

  async take(count: number): Promise<string[]> {
    const { database } = await this.#open();
    const codes: string[] = [];
    while (codes.length < count) {
      const candidates = Array.from({ length: count - codes.length }, () =>
        mintedCode(this.#random(MINTED_BYTES)),
      );
      const { rows } = await sql<{ code: string }>`
        insert into minted (code) select distinct code from unnest(${candidates}::text[]) as candidate (code)
        where not exists (select from invitation where invitation.code = candidate.code)
        on conflict do nothing returning code`.execute(database);
      codes.push(...rows.map(({ code }) => code));
    }
    return codes;
  }

  async end(): Promise<void> {
    const open = await this.#connection;
    if (!open) return;
    await sql`drop table minted`.execute(open.database);
    open.end();
  }

  #open(): Promise<{ database: Database; end: () => void }> {
    this.#connection ??= new Promise((resolve, reject) => {
      this.#database
        .connection()
        .execute(async (connection) => {
          await sql`create temp table minted (code text primary key)`.execute(connection);
          await new Promise<void>((end) => resolve({ database: connection, end }));
        })
        .catch(reject);
    });
    return this.#connection;
  }
}
