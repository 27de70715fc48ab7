import type { Deps } from '../deps.ts';
import { agrees, type Command, misused, readArgs } from '../platform/command.ts';
import { isUuid } from '../platform/database/isUuid.ts';
import { holdDocument } from './encryptDocuments.ts';
import { saveDocument } from './saveDocument.ts';
import { unknownDocuments } from './sweepDocuments.ts';

const options = { yes: { type: 'boolean', default: false } } as const;

export const documentsUnknownCommand: Command = {
  options,
  usage: 'documents unknown [fetch KEY FILE|remove KEY [--yes]]',
  summary:
    'Documents in the storage that the database does not know, as after a restore of an older backup: their keys. Fetch one to see whose it is; remove one that nobody needs, when you agree (--yes: without asking).',
  async run(args, { deps }) {
    const read = readArgs(args, options);
    if (!read) return misused(documentsUnknownCommand);
    const [what, key, path, ...more] = read.positionals;
    if (what === undefined) {
      const old = new Set<string>();
      for await (const key of unknownDocuments(deps)) old.add(key);
      let young = 0;
      for await (const unknown of unknownDocuments(deps, { all: true })) {
        if (!old.has(unknown)) young++;
        console.log(old.has(unknown) ? unknown : `${unknown}  younger than a day`);
      }
      if (young > 0)
        console.log(
          `${young} younger than a day: an upload may be under way, so none of them can be removed yet.`,
        );
      const count = old.size + young;
      console.log(count === 0 ? 'The database knows every document.' : `${count} unknown.`);
      return old.size === 0 ? 0 : 1;
    }
    const isFetch = what === 'fetch' && path !== undefined && more.length === 0;
    if (!isUuid(key) || !(isFetch || (what === 'remove' && path === undefined)))
      return misused(documentsUnknownCommand);
    if (!(await isUnknown(deps, key, isFetch))) {
      console.error(
        (await isUnknown(deps, key, true))
          ? `${key} is younger than a day: an upload may be under way, so it cannot be removed yet.`
          : `${key} is not among the documents that the database does not know.`,
      );
      return 1;
    }
    if (!isFetch) {
      if (!(await agrees(`Remove ${key} for good?`, { yes: read.values.yes, done: 'removed' }))) return 1;
      await deps.database.transaction().execute(async (trx) => {
        await holdDocument(trx, key);
        await deps.storage.remove(key);
      });
      console.log(`${key} is removed.`);
      return 0;
    }
    const refused = await saveDocument(deps, { key }, path);
    if (refused !== null) {
      console.error(refused);
      return 1;
    }
    console.log(`Written to ${path}.`);
    return 0;
  },
};

async function isUnknown(deps: Deps, key: string, all: boolean): Promise<boolean> {
  for await (const unknown of unknownDocuments(deps, { all })) if (unknown === key) return true;
  return false;
}
