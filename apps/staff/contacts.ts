import { plain } from '#core/cleanText.ts';
import { accountsOf, changeAccount } from '../server/crm/account.ts';
import { howFarBehind, refusedByHubspot, sendRefusedAgain } from '../server/crm/behind.ts';
import { diffOf } from '../server/crm/diffJoin.ts';
import { CrmRefused, CrmUnavailable, OtherAccount } from '../server/crm/hubspot/errors.ts';
import { syncContacts } from '../server/crm/syncContacts.ts';
import { isUuid } from '../server/platform/database/isUuid.ts';
import { Progress } from '../server/platform/progress.ts';
import { agrees, type Command, isAbsent, misused, notId, readArgs } from './command.ts';
import { failureSentence } from './sentences/failures.ts';

const FAILED_SHOWN = 200;

const syncOptions = { all: { type: 'boolean', default: false } } as const;

export const syncCommand: Command = {
  options: syncOptions,
  usage: 'contacts sync [--all]',
  summary:
    'Bring the mirror up to all contacts that HubSpot has changed since the last run, and look whether 2,000 others are still there; the first run, or --all, reads them all. One that was cut off goes on where it was.',
  async run(args, { deps }) {
    const read = readArgs(args, syncOptions);
    if (!read || read.positionals.length > 0) return misused(syncCommand);
    const progress = new Progress('contacts');
    try {
      const { contacts, isFirst } = await syncContacts(deps, {
        fromScratch: read.values.all,
        progress: (soFar) => progress.at(soFar.contacts),
      });
      progress.end();
      console.log(`${contacts} contacts ${isFirst ? 'read' : 'had changed'}.`);
      return 0;
    } catch (error) {
      if (!(error instanceof CrmUnavailable || error instanceof CrmRefused)) throw error;
      progress.end();
      console.error(`HubSpot: ${sentenceOf(error)}\nRun it again: it goes on where it was.`);
      return 1;
    }
  },
};

const accountOptions = { yes: { type: 'boolean', default: false } } as const;

export const accountCommand: Command = {
  options: accountOptions,
  usage: 'contacts account [ID [--yes]]',
  summary:
    "Show of which HubSpot account the contacts are, and of which the token is. With the id of the token's account: the society has moved there, and contacts that are not there count as deleted. That is done when you agree (--yes: without asking).",
  async run(args, { database, hubspot }) {
    const read = readArgs(args, accountOptions);
    const [id, ...more] = read?.positionals ?? [];
    if (!read || more.length > 0) return misused(accountCommand);
    try {
      const { kept, present } = await accountsOf(database, hubspot);
      if (present === null) {
        console.error('HubSpot does not tell of which account the token is.');
        return 1;
      }
      if (id !== undefined && id !== present)
        return misused(accountCommand, `The token is of the HubSpot account ${present}.`);
      if (id !== undefined && id !== kept) {
        const question = `The contacts are of account ${kept}. Those that account ${id} lacks count as deleted. Has the society moved?`;
        if (!(await agrees(question, { yes: read.values.yes, done: 'changed' }))) return 1;
        if (!(await changeAccount(database, kept, id))) {
          console.error('The contacts are of another account by now. Please look again.');
          return 1;
        }
      }
      console.log(
        `The contacts are of the HubSpot account ${id ?? kept}, and the token is of ${(id ?? kept) === present ? 'the same' : present}.`,
      );
      return 0;
    } catch (error) {
      if (!(error instanceof CrmUnavailable || error instanceof CrmRefused)) throw error;
      console.error(`HubSpot: ${sentenceOf(error)}`);
      return 1;
    }
  },
};

export const statusCommand: Command = {
  usage: 'contacts status',
  summary:
    'Show how far HubSpot is behind: joins to be sent, the oldest, those refused, and what HubSpot still lets us ask.',
  async run(args, { deps }) {
    if (args.length > 0) return misused(statusCommand);
    const { joins, waitingMinutes, refused, mirrored, syncedAt, documents, documentsRefused, budget } =
      await howFarBehind(deps);
    console.log(`${joins} joins to be sent${joins > 0 ? `, the oldest since ${waitingMinutes} min` : ''}`);
    console.log(`${refused} refused by HubSpot${refused > 0 ? ': npm run operator -- contacts failed' : ''}`);
    console.log(
      deps.society.crm.attachDocuments
        ? `${documents} documents to be attached, ${documentsRefused} refused`
        : 'Documents stay in the storage: crm.attachDocuments is false.',
    );
    console.log(
      `${mirrored} contacts in the mirror, ${syncedAt ? `synced ${syncedAt.toISOString().slice(0, 16)}Z` : 'never synced as a whole'}`,
    );
    for (const { name, tokens, blockedSeconds, failures } of budget)
      console.log(
        `${name === 'call' ? 'calls' : 'searches'}: ${tokens} left now${blockedSeconds > 0 ? `; left alone for ${blockedSeconds} s${failures > 0 ? ` after ${failures} failures` : ', as HubSpot asked'}` : ''}`,
      );
    return 0;
  },
};

export const failedCommand: Command = {
  usage: 'contacts failed',
  summary: "Show the joins and documents that HubSpot refuses, with HubSpot's reason.",
  async run(args, { database }) {
    if (args.length > 0) return misused(failedCommand);
    const refused = await refusedByHubspot(database, FAILED_SHOWN);
    for (const { who, what, reason } of refused) console.log(`${who}  ${what}  ${plain(reason)}`);
    console.log(
      refused.length === 0
        ? 'None.'
        : `${refused.length === FAILED_SHOWN ? `The newest ${FAILED_SHOWN}. ` : ''}When the cause is mended: npm run operator -- contacts retry all`,
    );
    return 0;
  },
};

export const retryCommand: Command = {
  usage: 'contacts retry all|JOIN',
  summary: 'Send again what HubSpot refused, after its cause is mended there; of one join also what it took.',
  async run([which, ...more], { database }) {
    if (!which || more.length > 0) return misused(retryCommand);
    if (which !== 'all' && !isUuid(which)) return misused(retryCommand, notId('join', which));
    if (which !== 'all' && (await isAbsent(database, 'join', which))) return 1;
    const count = await sendRefusedAgain(database, which);
    console.log(
      count > 0
        ? `${count} will be sent again.`
        : `HubSpot ${which === 'all' ? 'has refused nothing' : 'was never to be told of this join'}: nothing is sent again.`,
    );
    return which !== 'all' && count === 0 ? 1 : 0;
  },
};

export const diffCommand: Command = {
  usage: 'contacts diff JOIN',
  summary: 'Show what would be written to HubSpot for a join now, property by property.',
  async run([uuid, ...more], { deps }) {
    if (!uuid || more.length > 0 || !/^[0-9a-f-]{36}$/.test(uuid)) return misused(diffCommand);
    try {
      const diff = await diffOf(deps, uuid);
      if (!diff) {
        console.error(`There is no join ${uuid}.`);
        return 1;
      }
      console.log(diff.contactId === null ? 'A new contact:' : `Contact ${diff.contactId}:`);
      for (const { property, from, to } of diff.changes)
        console.log(plain(`  ${property}: ${from ?? '(empty)'} → ${to}`));
      if (diff.changes.length === 0) console.log('  nothing to write.');
      return 0;
    } catch (error) {
      if (!(error instanceof CrmUnavailable || error instanceof CrmRefused)) throw error;
      console.error(plain(`HubSpot: ${sentenceOf(error)}`));
      return 1;
    }
  },
};

function sentenceOf(error: CrmUnavailable | CrmRefused): string {
  return error instanceof OtherAccount ? failureSentence(error) : error.message;
}
