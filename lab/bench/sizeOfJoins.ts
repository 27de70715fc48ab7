/**
 * `node lab/bench/sizeOfJoins.ts [JOINS]`: prints how many rows and bytes a paid join with a transcript adds to each table, on
 * average over JOINS joins (default 1000).
 */
import { sql } from 'kysely';
import { paidJoin } from '../../tests/harness/steps.ts';
import { startTestServer } from '../../tests/harness/testServer.ts';
import { postPdf } from '../../tests/harness/uploads.ts';

const AT_ONCE = 8;
const joins = Number(process.argv[2] ?? 1_000);
if (!Number.isInteger(joins) || joins < 1) {
  console.error('JOINS is a whole number from 1.');
  process.exit(1);
}

const server = await startTestServer();
try {
  const { database } = server.deps;
  const measure = async () => {
    await sql`vacuum (full, analyze)`.execute(server.background);
    const { rows } = await sql<{ name: string; rows: number; bytes: number }>`
      select relname as name, reltuples::bigint as rows, pg_total_relation_size(oid) as bytes from pg_class
      where relkind = 'r' and relnamespace = 'public'::regnamespace order by bytes desc`.execute(database);
    return rows;
  };
  const before = new Map((await measure()).map((table) => [table.name, table]));
  let begun = 0;
  const lane = async () => {
    for (let number = begun++; number < joins; number = begun++) {
      const client = server.client();
      const person = { lastName: `Rivera ${number}`, personalEmail: `joiner.${number}@example.com` };
      const { uuid } = await paidJoin(server, client, undefined, person);
      await postPdf(client, `/api/public/join-session/${uuid}/upload-transcript`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
  const grown = (await measure())
    .map(({ name, rows, bytes }) => ({
      name,
      rows: (rows - Math.max(0, before.get(name)!.rows)) / joins,
      bytes: (bytes - before.get(name)!.bytes) / joins,
    }))
    .filter(({ bytes }) => bytes > 0);
  const sum = (of: 'rows' | 'bytes') => grown.reduce((total, table) => total + table[of], 0);
  for (const { name, rows, bytes } of [...grown, { name: 'all', rows: sum('rows'), bytes: sum('bytes') }])
    console.log(
      `${name.padEnd(20)} ${rows.toFixed(2).padStart(8)} rows ${bytes.toFixed(0).padStart(8)} bytes a join`,
    );
} finally {
  await server.close();
}
