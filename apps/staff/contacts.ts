import { accountsOf, changeAccount } from '../server/crm/account.ts';
import { howFarBehind, refusedByHubspot, sendAgainToHubspot } from '../server/crm/behind.ts';
import { NO_CONTACT } from '../server/crm/deliveries.ts';
import { diffOf } from '../server/crm/diffJoin.ts';
import { syncContacts } from '../server/crm/syncContacts.ts';
import { Failed } from '../server/platform/failed.ts';
import { Progress } from '../server/platform/progress.ts';
import { command, Misuse, noJoin, requireThere } from './command.ts';
import { agree, minute, print, warn } from './print.ts';
import { sentenceOf } from './sentences/failures.ts';

const FAILED_SHOWN = 200;

export const contactsCommands = [
  command({
    usage: 'contacts sync [--all]',
    flags: ['all'],
    summary:
      'Bring the mirror up to all contacts that HubSpot has changed since the last run, and look whether 2,000 others are still there; the first run, or --all, reads them all. One that was cut off goes on where it was.',
    async run(deps, _, { all }) {
      const progress = new Progress('contacts');
      try {
        const { contacts, isFirst } = await syncContacts(deps, {
          fromScratch: all,
          progress: (soFar) => progress.at(soFar.contacts),
        });
        progress.end();
        print(`${contacts} contacts ${isFirst ? 'read' : 'had changed'}.`);
        return true;
      } catch (error) {
        const sentence = sentenceOf(error);
        if (sentence === null) throw error;
        progress.end();
        warn(sentence);
        warn('Run it again: it goes on where it was.');
        return false;
      }
    },
  }),
  command({
    usage: 'contacts status',
    summary:
      'Show how far HubSpot is behind: joins to be sent, the oldest, those refused, and what HubSpot still lets us ask.',
    async run(deps) {
      const { joins, waitingMinutes, refused, mirrored, syncedAt, documents, documentsRefused, budget } =
        await howFarBehind(deps);
      print(`${joins} joins to be sent${joins > 0 ? `, the oldest since ${waitingMinutes} min` : ''}`);
      print(`${refused} refused by HubSpot${refused > 0 ? ': npm run operator -- contacts failed' : ''}`);
      print(
        deps.society.crm.attachDocuments
          ? `${documents} documents to be attached, ${documentsRefused} refused`
          : 'Documents stay in the storage: crm.attachDocuments is false.',
      );
      const synced = syncedAt ? `synced ${minute(syncedAt)}` : 'never synced as a whole';
      print(`${mirrored} contacts in the mirror, ${synced}`);
      for (const { name, tokens, blockedSeconds, failures } of budget) {
        const why = failures > 0 ? ` after ${failures} failures` : ', as HubSpot asked';
        const blocked = blockedSeconds > 0 ? `; left alone for ${blockedSeconds} s${why}` : '';
        print(`${name === 'call' ? 'calls' : 'searches'}: ${tokens} left now${blocked}`);
      }
    },
  }),
  command({
    usage: 'contacts failed',
    summary: "Show the joins and documents that HubSpot refuses, with HubSpot's reason.",
    async run({ database }) {
      const refused = await refusedByHubspot(database, FAILED_SHOWN);
      for (const { who, what, reason } of refused) print(who, what, reason);
      if (refused.some(({ reason }) => reason === NO_CONTACT))
        print(
          'The contact that is the same person is named by: npm run operator -- person merge JOIN CONTACT',
        );
      const newest = refused.length === FAILED_SHOWN ? `The newest ${FAILED_SHOWN}. ` : '';
      print(
        refused.length === 0
          ? 'None.'
          : `${newest}When the cause is mended: npm run operator -- contacts retry all`,
      );
    },
  }),
  command({
    usage: 'contacts retry all|JOIN',
    args: ['all|JOIN'],
    summary:
      'Send again what HubSpot refused, after its cause is mended there; of one join also what it took.',
    async run(deps, [which]) {
      if (which !== 'all') await requireThere(deps, 'join', which);
      const count = await sendAgainToHubspot(deps.database, which === 'all' ? which : { join: which });
      const none = which === 'all' ? 'has refused nothing' : 'was never to be told of this join';
      print(count > 0 ? `${count} will be sent again.` : `HubSpot ${none}: nothing is sent again.`);
      return which === 'all' || count > 0;
    },
  }),
  command({
    usage: 'contacts diff JOIN',
    args: ['JOIN'],
    summary: 'Show what would be written to HubSpot for a join now, property by property.',
    async run(deps, [uuid]) {
      const diff = await diffOf(deps, uuid);
      if (!diff) throw new Failed(noJoin(uuid));
      print(diff.contactId === null ? 'A new contact:' : `Contact ${diff.contactId}:`);
      for (const { property, from, to } of diff.changes) print(`  ${property}: ${from ?? '(empty)'} → ${to}`);
      if (diff.changes.length === 0) print('  nothing to write.');
    },
  }),
  command({
    usage: 'contacts account [ID [--yes]]',
    args: ['[ID]'],
    flags: ['yes'],
    summary:
      "Show of which HubSpot account the contacts are, and of which the token is. With the id of the token's account: the society has moved there, and contacts that are not there count as deleted. That is done when you agree (--yes: without asking).",
    async run({ database, hubspot }, [id], { yes }) {
      const { kept, present } = await accountsOf(database, hubspot);
      if (present === null) throw new Failed('HubSpot does not tell of which account the token is.');
      if (id !== undefined && id !== present)
        throw new Misuse(`The token is of the HubSpot account ${present}.`);
      if (id !== undefined && id !== kept) {
        await agree(
          `The contacts are of account ${kept}. Those that account ${id} lacks count as deleted. Has the society moved?`,
          'changed',
          { yes },
        );
        if (!(await changeAccount(database, kept, id)))
          throw new Failed('The contacts are of another account by now. Please look again.');
      }
      const now = id ?? kept;
      print(
        `The contacts are of the HubSpot account ${now}, and the token is of ${now === present ? 'the same' : present}.`,
      );
    },
  }),
];
