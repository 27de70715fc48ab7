import Fastify from 'fastify';
import pg from 'pg';
import { floorCalls } from './calls.ts';
import { listen } from './listen.ts';

/**
 * The minimal server with which Induct is compared. It uses only Fastify and pg, and does only what every server must do for a
 * join: it has no validation, log, limits or check of states. Its database is DATABASE_URL.
 */

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 10 });
const app = Fastify({ logger: false });
for (const { name, method, path, statements } of floorCalls) {
  const prepared = statements.map((text, index) => ({
    name: `${name} ${index}`,
    text,
    parameters: Math.max(0, ...[...text.matchAll(/\$(\d)/g)].map(([, number]) => Number(number))),
  }));
  app.route<{ Params: { id: string }; Body?: Record<string, unknown> }>({
    method,
    url: path,
    async handler({ params, body }) {
      const values = [params.id, ...Object.values(body ?? {})];
      const results = await Promise.all(
        prepared.map(({ parameters, ...query }) =>
          pool.query({ ...query, values: values.slice(0, parameters) }),
        ),
      );
      return { rows: results.flatMap(({ rows }) => rows) };
    },
  });
}
await listen(app, () => pool.end());
