import type { FastifyInstance } from 'fastify';
import { sql } from 'kysely';
import type { Data } from '#contract/schemas.ts';
import type { Deps } from '../deps.ts';
import { rejectionOf } from '../documents/sessionDocuments.ts';
import { serve } from '../http/routes.ts';
import { standingOf, whyNot } from '../join/standing.ts';
import { duplicatesOf } from '../payments/duplicates.ts';
import { receiptOf } from './receipt.ts';

export function welcomeRoutes(app: FastifyInstance, deps: Deps): void {
  serve(app, 'getWelcome', async ({ params, request }) => ({
    data: await welcome(deps, params.uuid, deps.browser.holds(request, params.uuid)),
  }));
}

/** What the welcome page says; whose it is only to the browser that holds the join. */
async function welcome(deps: Deps, uuid: string, isItsBrowser: boolean): Promise<Data<'getWelcome'>> {
  const standing = await standingOf(deps, uuid);
  if (standing?.state !== 'paid') throw await whyNot(deps, 'readUpgrade', uuid);
  const { rows } = await sql<{ first_name: string | null; products: number[] }>`
    select coalesce(details ->> 'firstName', contact.profile ->> 'firstName') as first_name,
      (select array_agg(product_id order by id) from membership where session_uuid = session.uuid) as products
    from join_session session left join contact on contact.id = contact_id
    where session.uuid = ${uuid}`.execute(deps.database);
  const rejection = await rejectionOf(deps, uuid);
  const isAsked = standing.isSelfNomination || rejection?.isFinal === false;
  const programme = deps.society.programme(standing.programme);
  return {
    firstName: isItsBrowser ? (rows[0]?.first_name ?? null) : null,
    receipt: isItsBrowser ? await receiptOf(deps, uuid) : null,
    membership: (rows[0]?.products ?? [])
      .map((id) => deps.society.product(id)?.name ?? '')
      .filter(Boolean)
      .join(' and '),
    owesTranscript: (programme.transcriptRequired || isAsked) && !standing.hasTranscript,
    rejection: rejection?.message ?? null,
    programme: programme.name,
    refunded: (await duplicatesOf(deps, { uuid })).map(({ kind, amount, isReturned }) => ({
      kind,
      amount,
      isReturned,
    })),
  };
}
