import { cleanEmail, cleanText, plain } from '#core/cleanText.ts';
import { displayMemberNumber } from '#core/memberNumber.ts';
import { displayPrice } from '#core/money.ts';
import { hasSynced } from '../server/crm/syncContacts.ts';
import { type FoundJoin, type FoundPerson, findPeople } from '../server/joining/findJoins.ts';
import { isUuid } from '../server/platform/database/isUuid.ts';
import { readStory } from '../server/session/readStory.ts';
import { type Command, misused, notId } from './command.ts';

const MOST = 20;

export const findCommand: Command = {
  usage: 'find NAME|EMAIL|CONTACT_ID|INVITE_CODE|MEMBER_NUMBER|CARD AMOUNT|PAYMENT_INTENT|JOIN',
  summary:
    'Show somebody: their joins, the newest first, with what was bought, paid and given back; or that they have none, and their codes. Any part of a name or an email is enough, with or without accents. CARD AMOUNT is the last four digits and the dollars, as 4242 65.',
  async run(args, { deps }) {
    const given = args.join(' ');
    const text = given.includes('@') || given.includes('＠') ? cleanEmail(given) : cleanText(given);
    if (text === '') return misused(findCommand);
    const { joins, others } = await findPeople(deps, text, MOST);
    for (const join of joins) print(join);
    if (joins.length === MOST) console.log(`… the newest ${MOST}.`);
    for (const person of others) printPerson(person);
    if (others.length === MOST) console.log(`… the first ${MOST} without a join.`);
    if (joins.length + others.length > 0) return 0;
    console.log('Nobody was found.');
    if (!(await hasSynced(deps)))
      console.log('People whom HubSpot alone knows are found after: npm run operator -- contacts sync');
    return 1;
  },
};

function printPerson({ contactId, name, email, codes }: FoundPerson): void {
  const invited = codes.map(({ code, isUsed }) => `${code} (${isUsed ? 'used' : 'unused'})`).join(', ');
  console.log(
    plain(
      `contact ${contactId}  ${name ?? 'unknown'}  ${email ?? 'no email'}  no join${invited && `  ${invited}`}`,
    ),
  );
}

function print({ uuid, state, programme, createdAt, name, openLines, payments }: FoundJoin): void {
  const when = `${createdAt.toISOString().slice(0, 16)}Z`;
  console.log(`${uuid}  ${when}  ${plain(name ?? 'unknown')}  ${programme}  ${state}`);
  if (!payments.some(({ status }) => status === 'succeeded'))
    for (const line of openLines)
      console.log(`  ${plain(line.name)}  ${displayPrice(line.priceCents)}  not paid`);
  for (const { id, kind, status, cents, refundedCents, standing, memberNumber, lines } of payments) {
    console.log(
      `  ${id}  ${kind}  ${displayPrice(cents)}  ${status}${back(refundedCents)}${standing ? `, membership ${standing}` : ''}${memberNumber ? `, number ${displayMemberNumber(memberNumber)}` : ''}`,
    );
    if (status === 'succeeded')
      for (const line of lines)
        console.log(`    ${plain(line.name)}  ${displayPrice(line.priceCents)}${back(line.refundedCents)}`);
  }
}

function back(cents: number): string {
  return cents > 0 ? `, ${displayPrice(cents)} refunded` : '';
}

export const storyCommand: Command = {
  usage: 'story JOIN',
  summary: 'What happened to a join, step by step: when (UTC), what, and by whom.',
  async run([uuid, ...more], { deps }) {
    if (!isUuid(uuid) || more.length > 0) return misused(storyCommand, notId('join', uuid));
    const story = await readStory(deps, uuid);
    if (!story) {
      console.error(`There is no join ${uuid}.`);
      return 1;
    }
    for (const { at, text, by } of story)
      console.log(`${at.toISOString().slice(0, 19).replace('T', ' ')}  ${plain(text)}  ${plain(by)}`);
    return 0;
  },
};
