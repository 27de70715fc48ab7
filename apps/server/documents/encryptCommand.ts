import { type Command, misused, readArgs } from '../platform/command.ts';
import { documentKeys } from '../providers/storage/envelope.ts';
import { encryptDocuments } from './encryptDocuments.ts';

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
