import type { Log } from '../deps.ts';
import type { Answer } from '../providers/answer.ts';
import type { Society } from '../society/society.ts';
import { askOnce } from './askDatabase.ts';

/** What orders that were paid, or are open, name and the society's file does not have. */
export interface Absent {
  products: { id: number; name: string; orders: number }[];
  programmes: { key: string; joins: number }[];
}

/** Every order is read. */
const TIMES = { connectionTimeoutMillis: 5_000, query_timeout: 60_000 };

/** Looks through paid and open orders for what the society's file does not have. Changes nothing. */
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

/** For whoever edits the society's file: a sentence for each programme and product that it lacks. */
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

/** Writes to the server's log what {@link askAbsent} finds. A database that does not answer is told elsewhere. */
export async function logAbsent(
  log: Log,
  { databaseUrl, societyFile }: { databaseUrl: string; societyFile: string },
  society: Society,
): Promise<void> {
  const answer = await askAbsent(databaseUrl, society);
  if ('said' in answer)
    for (const sentence of absentSentences(answer.said)) log.warn({ societyFile }, sentence);
}
