import type { Log } from '../deps.ts';
import type { Answer } from '../providers/answer.ts';
import type { Society } from '../society/society.ts';
import { askOnce } from './askDatabase.ts';

/** Products and programmes that the society file no longer has, although paid or open orders refer to them. */
export interface Absent {
  products: { id: number; name: string; orders: number }[];
  programmes: { key: string; joins: number }[];
}

/** Timeouts (ms). The query reads every order, so it may take long. */
const TIMES = { connectionTimeoutMillis: 5_000, query_timeout: 60_000 };

/** Finds the products and programmes of {@link Absent}. Changes nothing. */
export function askAbsent(
  databaseUrl: string,
  { catalogue, programmes }: Pick<Society, 'catalogue' | 'programmes'>,
): Promise<Answer<Absent>> {
  return askOnce(
    databaseUrl,
    async (client) => {
      const products = await client.query<Absent['products'][number]>(
        `select (line ->> 'productId')::int as id, min(line ->> 'name') as name, count(*)::int as orders
         from (
           select items as lines from payment join order_snapshot using (session_uuid, kind, revision) where status = 'succeeded'
           union all
           select lines from join_session where state in ('ordering', 'paying')
         ) as orders, jsonb_array_elements(lines) as line
         where (line ->> 'productId')::int <> all($1) group by 1 order by 1`,
        [catalogue.map(({ id }) => id)],
      );
      const absent = await client.query<Absent['programmes'][number]>(
        `select programme as key, count(*)::int as joins from join_session
         where state in ('ordering', 'paying', 'paid') and erased_at is null and programme <> all($1) group by 1 order by 1`,
        [Object.keys(programmes)],
      );
      return { products: products.rows, programmes: absent.rows };
    },
    TIMES,
  );
}

/** Returns a sentence for each missing programme and product. */
export function absentSentences({ products, programmes }: Absent): string[] {
  const several = (count: number, what: string) =>
    count === 1 ? `1 ${what} that was paid or is open` : `${count} ${what}s that were paid or are open`;
  return [
    ...programmes.map(
      ({ key, joins }) => `The society's file has no programme ${key}, which has ${several(joins, 'join')}.`,
    ),
    ...products.map(
      ({ id, name, orders }) =>
        `The society's file has no product ${id} (${name}), which is in ${several(orders, 'order')}.`,
    ),
  ];
}

/** Logs what {@link askAbsent} finds. If the database does not answer, logs nothing, since that is reported elsewhere. */
export async function logAbsent(
  log: Log,
  { databaseUrl, societyFile }: { databaseUrl: string; societyFile: string },
  society: Society,
): Promise<void> {
  const answer = await askAbsent(databaseUrl, society);
  if ('said' in answer)
    for (const sentence of absentSentences(answer.said)) log.warn({ societyFile }, sentence);
}
