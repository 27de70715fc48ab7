import { randomBytes } from 'node:crypto';
import { type LoneCommand, misused } from '../platform/command.ts';

export const rotateDocumentKeyCommand: LoneCommand = {
  usage: 'rotate document-key',
  summary:
    'Say how DOCUMENT_KEY is set for the first time, or exchanged for a new one, while servers run. It changes nothing itself.',
  async runAlone(args, { documentKeys }) {
    if (args.length > 0) return misused(rotateDocumentKeyCommand);
    const next = randomBytes(32).toString('hex');
    if (documentKeys === null) {
      console.log(
        [
          'No DOCUMENT_KEY is set: documents are stored as they are. To encrypt them:',
          `1. DOCUMENT_KEY=${next} for every server and for these commands`,
          '2. npm run operator -- documents encrypt',
          'Keep the key where the database, the documents and their backups are not. Whoever loses it loses the documents.',
        ].join('\n'),
      );
      return 0;
    }
    const [current, ...others] = documentKeys;
    if (others.length > 0) {
      console.error(
        'DOCUMENT_KEY_ALSO is set: an exchange is under way. Finish it first; npm run operator -- documents encrypt says when it may go.',
      );
      return 1;
    }
    console.log(
      [
        'Each step for every server and for these commands, one after the other, before the next step begins:',
        `1. DOCUMENT_KEY=${current} DOCUMENT_KEY_ALSO=${next}`,
        `2. DOCUMENT_KEY=${next} DOCUMENT_KEY_ALSO=${current}`,
        '3. npm run operator -- documents encrypt, once, which puts the documents that are there under the new key',
        `4. DOCUMENT_KEY=${next}, and no DOCUMENT_KEY_ALSO, when step 3 has said that it may go`,
        'Keep the old key for as long as you keep backups that were made before step 3 had ended.',
      ].join('\n'),
    );
    return 0;
  },
};
