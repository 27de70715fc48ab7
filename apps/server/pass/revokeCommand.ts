import { sql } from 'kysely';
import { type Command, misused, notId } from '../platform/command.ts';
import { isUuid } from '../platform/database/isUuid.ts';

export const linksRevokeCommand: Command = {
  usage: 'links revoke JOIN',
  summary:
    'Revoke every link that was mailed for a join, and its code. A new one can be asked for at Get Started.',
  async run([join, ...more], { deps }) {
    const uuid = join?.toLowerCase();
    if (!isUuid(uuid) || more.length > 0) return misused(linksRevokeCommand, notId('join', uuid));
    const { rows } = await sql`
      insert into pass (session_uuid, revoked_at) select uuid, ${deps.now()} from join_session where uuid = ${uuid}
      on conflict (session_uuid) do update set revoked_at = excluded.revoked_at,
        code_hash = null, code_browser = null, code_expires_at = null
      returning session_uuid`.execute(deps.database);
    if (!rows[0]) {
      console.error(`There is no join ${uuid}.`);
      return 1;
    }
    console.log('Revoked. Letters that are sent from now on have a link that opens the join.');
    return 0;
  },
};
