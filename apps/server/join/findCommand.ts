import { sql } from 'kysely';
import { displayPrice } from '#core/money.ts';
import { type Command, misused } from '../command.ts';

const MOST = 20;

export const findCommand: Command = {
  usage: 'find EMAIL|CONTACT_ID|INVITE_CODE|PAYMENT_INTENT|JOIN',
  summary: 'Show the joins of somebody, the newest first, with what was paid and what went back.',
  async run([text], { database }) {
    if (!text) return misused(findCommand);
    const { rows } = await sql<{
      uuid: string;
      state: string;
      programme: string;
      created_at: Date;
      payments:
        | {
            id: string;
            kind: string;
            status: string;
            cents: number;
            refunded: number;
            standing: string | null;
          }[]
        | null;
    }>`
      select uuid, state, programme, created_at, (
        select json_agg(json_build_object('id', intent_id, 'kind', kind, 'status', status, 'cents', amount_cents, 'refunded', refunded_cents,
          'standing', (select standing from membership where payment_intent = intent_id)) order by created_at)
        from payment where session_uuid = session.uuid) as payments
      from join_session session
      where uuid::text = lower(${text}) or contact_id = ${text} or invitation_code = upper(${text})
        or lower(details ->> 'personalEmail') = lower(${text})
        or exists (select from payment where session_uuid = session.uuid and intent_id = ${text})
      order by created_at desc limit ${MOST}`.execute(database);
    for (const { uuid, state, programme, created_at, payments } of rows) {
      console.log(`${uuid}  ${created_at.toISOString().slice(0, 16)}Z  ${programme}  ${state}`);
      for (const { id, kind, status, cents, refunded, standing } of payments ?? [])
        console.log(
          `  ${id}  ${kind}  ${displayPrice(cents)}  ${status}${refunded > 0 ? `, ${displayPrice(refunded)} refunded` : ''}${standing ? `, membership ${standing}` : ''}`,
        );
    }
    if (rows.length === 0) console.log('No join was found.');
    if (rows.length === MOST) console.log(`… the newest ${MOST}.`);
    return rows.length > 0 ? 0 : 1;
  },
};
