import { sql } from 'kysely';
import { plain } from '#core/cleanText.ts';
import { accountsOf, changeAccount } from '../server/crm/account.ts';
import { deliveriesOf } from '../server/crm/deliveries.ts';
import { diffOf } from '../server/crm/diffJoin.ts';
import { tokensNow } from '../server/crm/hubspot/budget.ts';
import { CrmRefused, CrmUnavailable } from '../server/crm/hubspot/errors.ts';
import { syncContacts } from '../server/crm/syncContacts.ts';
import { isUuid } from '../server/platform/database/isUuid.ts';
import { tellAbsent } from '../server/platform/database/tellAbsent.ts';
import { Progress } from '../server/platform/progress.ts';
import { agrees, type Command, misused, notId, readArgs } from './command.ts';

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
      console.error(`HubSpot: ${error.message}\nRun it again: it goes on where it was.`);
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
        await changeAccount(database, id);
      }
      console.log(
        `The contacts are of the HubSpot account ${id ?? kept}, and the token is of ${(id ?? kept) === present ? 'the same' : present}.`,
      );
      return 0;
    } catch (error) {
      if (!(error instanceof CrmUnavailable || error instanceof CrmRefused)) throw error;
      console.error(`HubSpot: ${error.message}`);
      return 1;
    }
  },
};

export const statusCommand: Command = {
  usage: 'contacts status',
  summary:
    'Show how far HubSpot is behind: joins to be sent, the oldest, those refused, and what HubSpot still lets us ask.',
  async run(args, { deps, database }) {
    if (args.length > 0) return misused(statusCommand);
    const { rows } = await sql<{
      behind: number;
      waiting_minutes: number | null;
      refused: number;
      mirrored: number;
      documents: number;
      documents_refused: number;
      synced_at: Date | null;
    }>`
      select count(*) filter (where due_at is not null and refusal is null)::int as behind,
        ceil(extract(epoch from now() - min(due_since) filter (where refusal is null)) / 60)::int as waiting_minutes,
        count(*) filter (where refusal is not null)::int as refused,
        (select count(*)::int from document where crm_next_try_at is not null and crm_refusal is null and review <> 'rejected'
          and (removed_at is null or crm_file_id is not null)) as documents,
        (select count(*)::int from document where crm_refusal is not null) as documents_refused,
        (select count(*)::int from person where contact_id is not null) as mirrored,
        (select reached_at from schedule where name = 'contacts sync' and cursor is null) as synced_at
      from crm_delivery`.execute(database);
    const { behind, waiting_minutes, refused, mirrored, synced_at, documents, documents_refused } = rows[0]!;
    const budget = await sql<{ name: string; tokens: number; blocked: number; failures: number }>`
      select name, floor(case name when 'call' then ${tokensNow('call')} else ${tokensNow('search')} end)::int as tokens,
        case when blocked_until > now() then ceil(extract(epoch from blocked_until - now()))::int else 0 end as blocked, failures
      from crm_budget order by name`.execute(database);
    console.log(`${behind} joins to be sent${behind > 0 ? `, the oldest since ${waiting_minutes} min` : ''}`);
    console.log(`${refused} refused by HubSpot${refused > 0 ? ': npm run operator -- contacts failed' : ''}`);
    console.log(
      deps.society.crm.attachDocuments
        ? `${documents} documents to be attached, ${documents_refused} refused`
        : 'Documents stay in the storage: crm.attachDocuments is false.',
    );
    console.log(
      `${mirrored} contacts in the mirror, ${synced_at ? `synced ${synced_at.toISOString().slice(0, 16)}Z` : 'never synced as a whole'}`,
    );
    for (const { name, tokens, blocked, failures } of budget.rows)
      console.log(
        `${name === 'call' ? 'calls' : 'searches'}: ${tokens} left now${blocked > 0 ? `; left alone for ${blocked} s${failures > 0 ? ` after ${failures} failures` : ', as HubSpot asked'}` : ''}`,
      );
    return 0;
  },
};

export const failedCommand: Command = {
  usage: 'contacts failed',
  summary: "Show the joins and documents that HubSpot refuses, with HubSpot's reason.",
  async run(args, { database }) {
    if (args.length > 0) return misused(failedCommand);
    const { rows } = await sql<{ who: string; what: string; crm_refusal: string }>`
      select coalesce((select uuid::text from join_session where join_session.person_id = person.id order by paid_at desc nulls last, created_at desc limit 1),
          'contact ' || contact_id) as who, coalesce('contact ' || contact_id, 'new contact') as what, refusal as crm_refusal, due_since as at
      from crm_delivery join person on person.id = person_id where refusal is not null
      union all
      select coalesce(session_uuid::text, 'resume of contact ' || (select contact_id from person where person.id = person_id)), 'document ' || id, crm_refusal, created_at
      from document where crm_refusal is not null
      order by at desc limit ${FAILED_SHOWN}`.execute(database);
    for (const { who, what, crm_refusal } of rows) console.log(`${who}  ${what}  ${plain(crm_refusal)}`);
    console.log(
      rows.length === 0
        ? 'None.'
        : `${rows.length === FAILED_SHOWN ? `The newest ${FAILED_SHOWN}. ` : ''}When the cause is mended: npm run operator -- contacts retry all`,
    );
    return 0;
  },
};

export const retryCommand: Command = {
  usage: 'contacts retry all|JOIN',
  summary: 'Send again what HubSpot refused, after its cause is mended there.',
  async run([which, ...more], { database }) {
    if (!which || more.length > 0) return misused(retryCommand);
    if (which !== 'all' && !isUuid(which)) return misused(retryCommand, notId('join', which));
    if (which !== 'all' && (await tellAbsent(database, 'join', which))) return 1;
    const { rows } = await sql`
      with documents as (
        update document set crm_refusal = null, crm_next_try_at = now()
        where crm_refusal is not null and (${which} = 'all' or session_uuid::text = ${which}) returning id
      ), joins as (
        update crm_delivery set refusal = null, tries = 0, due_at = now()
        where refusal is not null and (${which} = 'all' or person_id in ${deliveriesOf(sql`(select uuid from join_session where uuid::text = ${which})`)})
        returning person_id
      )
      select from joins union all select from documents`.execute(database);
    console.log(
      rows.length > 0
        ? `${rows.length} will be sent again.`
        : `HubSpot has refused nothing${which === 'all' ? '' : ' of this join'}: nothing is sent again.`,
    );
    return which !== 'all' && rows.length === 0 ? 1 : 0;
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
      console.error(plain(`HubSpot: ${error.message}`));
      return 1;
    }
  },
};
