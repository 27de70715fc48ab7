import { displayMemberNumber } from '#core/memberNumber.ts';
import { displayPrice } from '#core/money.ts';
import { hasSynced } from '../server/crm/syncContacts.ts';
import { type FoundJoin, type FoundPerson, findPeople } from '../server/joining/findJoins.ts';
import { Failed } from '../server/platform/failed.ts';
import { readStory } from '../server/session/readStory.ts';
import { command, noJoin } from './command.ts';
import { minute, print } from './print.ts';

const MOST = 20;

export const findCommands = [
  command({
    usage: 'find NAME|EMAIL|CONTACT_ID|INVITE_CODE|MEMBER_NUMBER|CARD AMOUNT|PAYMENT_INTENT|JOIN',
    args: ['WHO…'],
    summary:
      'Show somebody: their joins, the newest first, with what was bought, paid and given back; or that they have none, and their codes. Any part of a name or an email is enough, with or without accents. CARD AMOUNT is the last four digits and the dollars, as 4242 65.',
    async run(deps, [text]) {
      const { joins, others } = await findPeople(deps, text, MOST);
      for (const join of joins) printJoin(join);
      if (joins.length === MOST) print(`… the newest ${MOST}.`);
      for (const person of others) printPerson(person);
      if (others.length === MOST) print(`… the first ${MOST} without a join.`);
      if (joins.length + others.length > 0) return true;
      print('Nobody was found.');
      if (!(await hasSynced(deps)))
        print('People whom HubSpot alone knows are found after: npm run operator -- contacts sync');
      return false;
    },
  }),
  command({
    usage: 'story JOIN',
    args: ['JOIN'],
    summary: 'What happened to a join, step by step: when (UTC), what, and by whom.',
    async run(deps, [uuid]) {
      const story = await readStory(deps, uuid);
      if (!story) throw new Failed(noJoin(uuid));
      for (const { at, text, by } of story) print(at.toISOString().slice(0, 19).replace('T', ' '), text, by);
    },
  }),
];

function printPerson({ contactId, name, email, codes }: FoundPerson): void {
  const invited = codes.map(({ code, isUsed }) => `${code} (${isUsed ? 'used' : 'unused'})`).join(', ');
  print(`contact ${contactId}`, name ?? 'unknown', email ?? 'no email', 'no join', invited);
}

function printJoin({ uuid, state, programme, createdAt, name, openLines, payments }: FoundJoin): void {
  print(uuid, minute(createdAt), name ?? 'unknown', programme, state);
  if (!payments.some(({ status }) => status === 'succeeded'))
    for (const line of openLines) print(`  ${line.name}`, displayPrice(line.priceCents), 'not paid');
  for (const { id, kind, status, cents, refundedCents, standing, memberNumber, lines } of payments) {
    const membership = standing ? `, membership ${standing}` : '';
    const number = memberNumber ? `, number ${displayMemberNumber(memberNumber)}` : '';
    print(`  ${id}`, kind, displayPrice(cents), `${status}${back(refundedCents)}${membership}${number}`);
    if (status === 'succeeded')
      for (const line of lines)
        print(`    ${line.name}`, `${displayPrice(line.priceCents)}${back(line.refundedCents)}`);
  }
}

function back(cents: number): string {
  return cents > 0 ? `, ${displayPrice(cents)} refunded` : '';
}
