import { randomBytes } from 'node:crypto';
import { PASS_DAYS } from '#core/pass.ts';
import { type LoneCommand, misused } from '../platform/command.ts';

export const rotateCommand: LoneCommand = {
  usage: 'rotate link-secret',
  summary: 'Say how LINK_SECRET is exchanged for a new one while servers run. It changes nothing itself.',
  async runAlone(args, { linkSecrets }) {
    if (args.length > 0) return misused(rotateCommand);
    if (linkSecrets === null) {
      console.error('No LINK_SECRET is set: the database keeps one that nobody has seen.');
      return 1;
    }
    const [current, ...others] = linkSecrets;
    if (others.length > 0) {
      console.error('LINK_SECRET_ALSO is set: an exchange is under way. Finish it first.');
      return 1;
    }
    const next = randomBytes(32).toString('hex');
    console.log(
      [
        'Each step for every server, one after the other, before the next step begins:',
        `1. LINK_SECRET=${current} LINK_SECRET_ALSO=${next}`,
        `2. LINK_SECRET=${next} LINK_SECRET_ALSO=${current}`,
        `3. LINK_SECRET=${next}, and no LINK_SECRET_ALSO`,
        `Between 2 and 3 at least ${PASS_DAYS} days, and as long as links of yours are valid that were signed before. When the old one has leaked, go on to 3 at once: links and browsers of before have to prove themselves anew.`,
      ].join('\n'),
    );
    return 0;
  },
};
