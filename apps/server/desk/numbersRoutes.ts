import type { FastifyInstance } from 'fastify';
import type { DeskData, DeskQuery } from '#contract/deskSchemas.ts';
import { csvLine } from '#core/csv.ts';
import { funnelSteps, periodFault } from '#core/funnel.ts';
import { joinsByDay, readNumbers } from '../joining/readNumbers.ts';
import { Refusal } from '../platform/http/refusal.ts';
import type { Deps } from './deps.ts';
import { beginLedger, ledgerFile, ledgerMonth } from './ledgerMonth.ts';
import { reconciliations } from './reconciliations.ts';
import { serveDesk } from './serve.ts';
import { programmeName } from './words.ts';

const MOST_ROWS = 500;
const NOT_READ = 'This month has not been read from Stripe yet.';

/** Serves the calls of the screen Numbers. */
export function numbersRoutes(app: FastifyInstance, deps: Deps & { deskUrl: string }): void {
  const named = async (asked: DeskQuery<'getNumbers'>, most: number | null) => {
    const fault = periodFault(asked);
    if (fault !== null) throw new Refusal(400, fault);
    const { rows, total } = await readNumbers(deps, asked, most);
    const nameOf = (key: string) => (asked.by === 'programme' ? programmeName(deps.society, key) : key);
    return { rows: rows.map(({ key, ...row }) => ({ key: key && nameOf(key), ...row })), total };
  };

  serveDesk(app, deps, 'getNumbers', async ({ query }) => {
    const [numbers, days] = await Promise.all([named(query, MOST_ROWS), joinsByDay(deps, query)]);
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

  serveDesk(app, deps, 'getLedger', async ({ query }) => ({ ledger: await ledgerShown(deps, query.month) }));

  serveDesk(
    app,
    deps,
    'readLedger',
    async ({ staff, body: { month } }) => {
      await beginLedger({ ...deps, actor: staff.name }, month);
      return { ledger: await ledgerShown(deps, month) };
    },
    ({ body }) => `ledger ${body.month}`,
  );

  serveDesk(
    app,
    deps,
    'getLedgerFile',
    async ({ query: { month } }) => {
      const file = await ledgerFile(deps, month);
      if (file === null) throw new Refusal(404, NOT_READ);
      return { name: `ledger-${month}.csv`, pieces: piecesOf(file) };
    },
    ({ query }) => `ledger ${query.month}`,
  );

  serveDesk(app, deps, 'getReconciliations', () => reconciliations(deps));
}

async function ledgerShown(deps: Deps, month: string): Promise<DeskData<'getLedger'>['ledger']> {
  const ledger = await ledgerMonth(deps, month);
  return ledger && { ...ledger, readAt: ledger.readAt?.toISOString() ?? null };
}

async function* piecesOf(file: string) {
  yield file;
}
