import { randomBytes } from 'node:crypto';
import { PASS_DAYS } from '#core/pass.ts';
import { Failed } from '../server/platform/failed.ts';
import { loneCommand } from './command.ts';
import { printAll } from './print.ts';

/** Returns the current secret and a new one. Throws {@link Failed} if the secret is already being rotated. */
function exchange(secrets: readonly string[], underWay: string): { current: string; next: string } {
  const [current, ...others] = secrets;
  if (others.length > 0) throw new Failed(underWay);
  return { current: current!, next: newKey() };
}

const newKey = () => randomBytes(32).toString('hex');

export const keyCommands = [
  loneCommand({
    usage: 'rotate link-secret',
    summary: 'Say how LINK_SECRET is exchanged for a new one while servers run. It changes nothing itself.',
    async run({ config: { linkSecrets } }) {
      if (linkSecrets === null)
        throw new Failed('No LINK_SECRET is set: the database keeps one that nobody has seen.');
      const { current, next } = exchange(
        linkSecrets,
        'LINK_SECRET_ALSO is set: an exchange is under way. Finish it first.',
      );
      printAll([
        'Each step for every server, one after the other, before the next step begins:',
        `1. LINK_SECRET=${current} LINK_SECRET_ALSO=${next}`,
        `2. LINK_SECRET=${next} LINK_SECRET_ALSO=${current}`,
        `3. LINK_SECRET=${next}, and no LINK_SECRET_ALSO`,
        `Between 2 and 3 at least ${PASS_DAYS} days, and as long as links of yours are valid that were signed before. When the old one has leaked, go on to 3 at once: links and browsers of before have to prove themselves anew.`,
      ]);
    },
  }),
  loneCommand({
    usage: 'rotate document-key',
    summary:
      'Say how DOCUMENT_KEY is set for the first time, or exchanged for a new one, while servers run. It changes nothing itself.',
    async run({ config: { documentKeys } }) {
      if (documentKeys === null) {
        printAll([
          'No DOCUMENT_KEY is set: documents are stored as they are. To encrypt them:',
          `1. DOCUMENT_KEY=${newKey()} for every server and for these commands`,
          '2. npm run operator -- documents encrypt',
          'Keep the key where the database, the documents and their backups are not. Whoever loses it loses the documents.',
        ]);
        return;
      }
      const { current, next } = exchange(
        documentKeys,
        'DOCUMENT_KEY_ALSO is set: an exchange is under way. Finish it first; npm run operator -- documents encrypt says when it may go.',
      );
      printAll([
        'Each step for every server and for these commands, one after the other, before the next step begins:',
        `1. DOCUMENT_KEY=${current} DOCUMENT_KEY_ALSO=${next}`,
        `2. DOCUMENT_KEY=${next} DOCUMENT_KEY_ALSO=${current}`,
        '3. npm run operator -- documents encrypt, once, which puts the documents that are there under the new key',
        `4. DOCUMENT_KEY=${next}, and no DOCUMENT_KEY_ALSO, when step 3 has said that it may go`,
        'Keep the old key for as long as you keep backups that were made before step 3 had ended.',
      ]);
    },
  }),
];
