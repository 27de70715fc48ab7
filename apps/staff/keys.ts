import { randomBytes } from 'node:crypto';
import { PASS_DAYS } from '#core/pass.ts';
import { encryptDocuments } from '../server/documents/encryptDocuments.ts';
import { documentKeys } from '../server/providers/storage/envelope.ts';
import { type Command, type LoneCommand, misused, readArgs } from './command.ts';

const documentsEncryptOptions = { 'dry-run': { type: 'boolean', default: false } } as const;

export const documentsEncryptCommand: Command = {
  options: documentsEncryptOptions,
  usage: 'documents encrypt [--dry-run]',
  summary:
    'Encrypt documents that are stored as they are, and put the envelopes of the others under DOCUMENT_KEY. Servers may run, and it may be ended and given again at any time. --dry-run: only count.',
  async run(args, { deps }) {
    const read = readArgs(args, documentsEncryptOptions);
    if (!read || read.positionals.length > 0) return misused(documentsEncryptCommand);
    const secrets = deps.config.documentKeys;
    if (secrets === null) {
      console.error('No DOCUMENT_KEY is set. To begin: npm run operator -- rotate document-key');
      return 1;
    }
    const { currentId, otherIds } = documentKeys(secrets);
    const isTrial = read.values['dry-run'];
    const { plain, other, current, faults } = await encryptDocuments(deps, { isTrial });
    for (const fault of faults) console.error(fault);
    const would = isTrial ? 'would be' : 'were';
    console.log(`${plain} ${would} encrypted, and ${other} ${would} put under the key ${currentId}.`);
    console.log(`${current} were under it already, and ${faults.length} cannot be read.`);
    if (faults.length > 0) {
      console.log('No key may go before these can be read.');
      return 1;
    }
    if (!isTrial && otherIds.length > 0)
      console.log(
        `No document needs the key ${otherIds.join(' or ')} any more: DOCUMENT_KEY_ALSO may go, when all servers have this DOCUMENT_KEY. Keep it for as long as you keep backups of before.`,
      );
    return 0;
  },
};

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

export const rotateLinkSecretCommand: LoneCommand = {
  usage: 'rotate link-secret',
  summary: 'Say how LINK_SECRET is exchanged for a new one while servers run. It changes nothing itself.',
  async runAlone(args, { linkSecrets }) {
    if (args.length > 0) return misused(rotateLinkSecretCommand);
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
