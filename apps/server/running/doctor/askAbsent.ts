import { patience } from '../../platform/database/patience.ts';
import type { Log } from '../../platform/deps.ts';
import type { Answer } from '../../providers/answer.ts';
import type { Society } from '../../society/society.ts';
import { askOnce } from './askDatabase.ts';

/**
 * Products and programmes that the society file no longer has, but that are still in use: the products in paid or open orders,
 * the programmes in joins or unused invite codes.
 */
export interface Absent {
  products: { id: number; name: string; orders: number }[];
  programmes: { key: string; paid: number; unpaid: number; codes: number }[];
}

/** Timeouts (ms). The query reads every order, so it may take long. */
const TIMES = { connectionTimeoutMillis: patience.ofWork.connectMs, query_timeout: patience.ofWork.answerMs };

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
        `select programme as key, count(*) filter (where what = 'paid')::int as paid,
           count(*) filter (where what = 'unpaid')::int as unpaid, count(*) filter (where what = 'code')::int as codes
         from (
           select programme, case when state = 'paid' then 'paid' else 'unpaid' end as what from join_session where erased_at is null
           union all
           select programme, 'code' from invitation
           where not is_withdrawn and (expires_at is null or expires_at > now())
             and (person_id is null or not exists (select from join_session where invitation_code = code))
         ) as named
         where programme <> all($1) group by 1 order by 1`,
        [Object.keys(programmes)],
      );
      return { products: products.rows, programmes: absent.rows };
    },
    TIMES,
  );
}

export function absentSentences({ products, programmes }: Absent): string[] {
  const counted = (count: number, what: string) => (count === 1 ? `1 ${what}` : `${count} ${what}s`);
  const several = (count: number, what: string) =>
    `${counted(count, what)} that ${count === 1 ? 'was paid or is' : 'were paid or are'} open`;
  return [
    ...programmes.map(({ key, paid, unpaid, codes }) => {
      const parts = Object.entries({ 'paid join': paid, 'unpaid join': unpaid, 'unused invite code': codes });
      const has = parts.filter(([, count]) => count > 0).map(([what, count]) => counted(count, what));
      return `The society's file has no programme ${key}, which has ${has.join(', ')}.`;
    }),
    ...products.map(
      ({ id, name, orders }) =>
        `The society's file has no product ${id} (${name}), which is in ${several(orders, 'order')}.`,
    ),
  ];
}

/** Logs what {@link askAbsent} finds. Logs nothing if the database does not answer. */
export async function logAbsent(
  log: Log,
  { databaseUrl, societyFile }: { databaseUrl: string; societyFile: string },
  society: Society,
): Promise<void> {
  const answer = await askAbsent(databaseUrl, society);
  if ('said' in answer)
    for (const sentence of absentSentences(answer.said)) log.warn({ societyFile }, sentence);
}
