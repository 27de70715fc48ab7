import type { FastifyInstance } from 'fastify';
import type { DeskQuery } from '#contract/deskSchemas.ts';
import { csvLine } from '#core/csv.ts';
import { funnelSteps } from '#core/funnel.ts';
import { joinsByDay, readNumbers } from '../joining/readNumbers.ts';
import type { Deps } from './deps.ts';
import { serveDesk } from './serve.ts';
import { programmeName } from './words.ts';

const MOST_ROWS = 500;

/** The calls of Numbers. */
export function numbersRoutes(app: FastifyInstance, deps: Deps & { deskUrl: string }): void {
  const named = async (asked: DeskQuery<'getNumbers'>, most: number | null) => {
    const { rows, total } = await readNumbers(deps, asked, most);
    const nameOf = (key: string) => (asked.by === 'programme' ? programmeName(deps.society, key) : key);
    return { rows: rows.map(({ key, ...row }) => ({ key: key && nameOf(key), ...row })), total };
  };

  serveDesk(app, deps, 'getNumbers', async ({ query }) => {
    const [days, numbers] = await Promise.all([joinsByDay(deps, query), named(query, MOST_ROWS)]);
    return { days, ...numbers };
  });

  serveDesk(app, deps, 'getNumbersFile', async ({ query }) => {
    const { rows } = await named(query, null);
    async function* pieces() {
      yield csvLine([query.by, ...funnelSteps]);
      for (const { key, ...row } of rows)
        yield csvLine([key ?? '', ...funnelSteps.map((step) => String(row[step]))]);
    }
    return { name: `joins-by-${query.by}-${query.from}-${query.to}.csv`, pieces: pieces() };
  });
}
