import { sql } from 'kysely';
import { type Command, misused, notId } from '../platform/command.ts';
import { isUuid } from '../platform/database/isUuid.ts';
import { revokePasses } from './revoke.ts';

export const linksRevokeCommand: Command = {
  usage: 'links revoke JOIN',
  summary:
    'Revoke every link that was mailed for a join, and its code. A new one can be asked for at Get Started.',
  async run([join, ...more], { deps }) {
    const uuid = join?.toLowerCase();
    if (!isUuid(uuid) || more.length > 0) return misused(linksRevokeCommand, notId('join', uuid));
    const [revoked] = await revokePasses(deps.database, sql`uuid = ${uuid}`, deps.now());
    if (revoked === undefined) {
      console.error(`There is no join ${uuid}.`);
      return 1;
    }
    console.log('Revoked. Letters that are sent from now on have a link that opens the join.');
    return 0;
  },
};
