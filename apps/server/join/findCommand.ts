import { cleanEmail, cleanText, plain } from '#core/cleanText.ts';
import { displayMemberNumber } from '#core/memberNumber.ts';
import { displayPrice } from '#core/money.ts';
import { type Command, misused } from '../platform/command.ts';
import { type FoundJoin, findJoins } from './findJoins.ts';

const MOST = 20;

export const findCommand: Command = {
  usage: 'find NAME|EMAIL|CONTACT_ID|INVITE_CODE|MEMBER_NUMBER|PAYMENT_INTENT|JOIN',
  summary:
    'Show the joins of somebody, the newest first, with what was bought, paid and given back. Of a name, first or last or both, the beginning is enough; an email address may be the one of a receipt.',
  async run(args, { deps }) {
    const given = args.join(' ');
    const text = given.includes('@') || given.includes('＠') ? cleanEmail(given) : cleanText(given);
    if (text === '') return misused(findCommand);
    const found = await findJoins(deps, text, MOST);
    for (const join of found) print(join);
    if (found.length === 0) console.log('No join was found.');
    if (found.length === MOST) console.log(`… the newest ${MOST}.`);
    return found.length > 0 ? 0 : 1;
  },
};

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
