import { simpleParser } from 'mailparser';
import type Stripe from 'stripe';
import type { KeptLetter } from '../../emulators/mail/server.ts';
import type { Difference } from './ledger.ts';
import type { Person } from './person.ts';
import { emailsOf, payerEmailOf, type World } from './world.ts';

/** The subjects of reminders. */
const REMINDERS = ['Your registration is saved', 'Your registration is still open'];
/** A reminder may be sent up to this long (s) after its join was paid, since the server may have begun to send it before. */
const ON_ITS_WAY = 120;

/** A letter about money, as it was received. */
interface Told {
  subject: string;
  to: string;
  intentId: string;
  /** The amount in the letter's line "Total paid", "Being refunded" or "Refunded" (cents). */
  cents: number;
}

/**
 * Compares letters with money, without the server's own code. Each charge that bought something has one receipt to the joiner
 * and, if it was paid by a pay link, one to its payer. Both say the charged amount; they may be missing if the membership is no
 * longer held. Each refund of such a charge has one letter to each of them. Each charge that bought nothing has one letter, which
 * says that all of it is being refunded; if it was paid by a pay link, only its refund has letters. Letters with the same
 * Message-ID count as one.
 */
export async function countLetters(world: World, people: readonly Person[]): Promise<Difference[]> {
  const found: Difference[] = [];
  const told: Told[] = [];
  const came = await world.sendLetters();
  found.push(...(await countReminders(world, people, came)));
  for (const { raw, to } of came) {
    const { subject = '', text = '' } = await simpleParser(Buffer.from(raw, 'latin1'));
    const intentId = /^Reference: (pi_\w+)$/m.exec(text)?.[1];
    const dollars = /^(?:Total paid|Being refunded|Refunded) +\$([\d,]+\.\d\d)$/m.exec(text)?.[1];
    if (intentId && dollars)
      told.push({ subject, to, intentId, cents: Math.round(Number(dollars.replaceAll(',', '')) * 100) });
  }
  const about = (intentId: string, subject: RegExp) =>
    told.filter((letter) => letter.intentId === intentId && subject.test(letter.subject));
  const { rows: payments } = await world.database.query<{
    intent_id: string;
    session_uuid: string;
    status: string;
    amount_cents: number;
    by_pay_link: boolean;
    bought: 'membership' | 'membership_upgrade' | null;
    is_held: boolean | null;
  }>(
    `select intent_id, payment.session_uuid, status, amount_cents, by_pay_link, membership.type as bought, is_held
     from payment left join membership on payment_intent = intent_id`,
  );
  const refunds = await world.everything<Stripe.Refund>('refunds');
  for (const { intent_id, session_uuid, status, amount_cents, by_pay_link, bought, is_held } of payments) {
    const person = people.find(({ uuid }) => uuid === session_uuid);
    const expect = (what: string, subject: RegExp, isDue: boolean, isToPayer = false) => {
      const letters = about(intent_id, subject);
      const add = (text: string) =>
        found.push({
          kind: 'letters unlike the money',
          subject: `join ${person?.join.name} (${session_uuid})`,
          text: `${what} of ${intent_id}: ${text}`,
        });
      const isOver = isDue && is_held === false;
      if (letters.length !== (isDue ? 1 : 0) && !(isOver && letters.length === 0))
        add(`${letters.length} letters; due: ${isDue}`);
      for (const { cents, to } of letters) {
        if (cents !== amount_cents) add(`it says ${cents} cents, ${amount_cents} were charged`);
        const isTheirs = isToPayer
          ? to === payerEmailOf(person?.join.name ?? '')
          : person?.join.contact !== null || emailsOf(person.join).includes(to);
        if (!isTheirs) add(`it went to ${to}`);
      }
    };
    const isSale = status === 'succeeded';
    expect(
      'a receipt of the membership',
      /^Your membership is confirmed$/,
      isSale && bought === 'membership',
    );
    expect(
      'a receipt of the upgrade',
      /^Your upgrade is confirmed$/,
      isSale && bought === 'membership_upgrade',
    );
    expect(
      'a second payment',
      /^Your payment of .* is being refunded$/,
      status === 'duplicate' && !by_pay_link,
    );
    expect('a receipt of the payer', /^Your receipt for /, isSale && by_pay_link, true);

    const given = refunds.filter(({ payment_intent }) => String(payment_intent) === intent_id);
    for (const { subject, isTold } of [
      { subject: /^Your refund of \S+$/, isTold: isSale || by_pay_link },
      { subject: /^Your refund of \S+ for /, isTold: by_pay_link },
    ]) {
      const letters = about(intent_id, subject);
      for (const cents of new Set([
        ...given.map(({ amount }) => amount),
        ...letters.map((letter) => letter.cents),
      ])) {
        const made = given.filter(({ amount }) => amount === cents);
        const stands = isTold ? made.filter((refund) => refund.status === 'succeeded').length : 0;
        const count = letters.filter((letter) => letter.cents === cents).length;
        // A refund that the bank returned later may have a letter, which was sent while the refund still counted as succeeded.
        if (count < stands || count > (isTold ? made.length : 0))
          found.push({
            kind: 'letters unlike the money',
            subject: `join ${person?.join.name} (${session_uuid})`,
            text: `refunds of ${cents} cents of ${intent_id}: ${count} letters, ${made.length} made, ${stands} stand`,
          });
      }
    }
  }
  const known = new Set(payments.map(({ intent_id }) => intent_id));
  for (const { intentId, subject } of told)
    if (!known.has(intentId))
      found.push({ kind: 'letters unlike the money', subject: intentId, text: `“${subject}” of no payment` });
  const { rows: waiting } = await world.database.query<{
    kind: string;
    session_uuid: string;
    refusal: string | null;
  }>(
    `select kind, session_uuid, refusal from letter where sent_at is null and withdrawn_at is null and due_at <= now()`,
  );
  for (const { kind, session_uuid, refusal } of waiting)
    found.push({
      kind: 'letter not sent',
      subject: session_uuid,
      text: `${kind}: ${refusal ?? 'it is due'}`,
    });
  return found;
}

/**
 * Checks that each join has at most one reminder of a kind (joins with the same email may have one each), that none was sent more
 * than ON_ITS_WAY seconds after the join was paid, and that none went to a minor.
 */
async function countReminders(
  world: World,
  people: readonly Person[],
  came: readonly KeptLetter[],
): Promise<Difference[]> {
  const ofPeople = people.flatMap((person) =>
    REMINDERS.flatMap((title) => {
      const count = came.filter(
        ({ to, subject }) => subject === title && emailsOf(person.join).includes(to),
      ).length;
      const alike = people.filter(({ join }) => emailsOf(join)[0] === emailsOf(person.join)[0]);
      const texts = [
        ...(count > alike.length ? [`${count} times “${title}”`] : []),
        ...(count > 0 && !alike.some(({ join }) => join.undergraduate) ? [`“${title}” went to a minor`] : []),
      ];
      return texts.map((text) => ({ subject: `join ${person.join.name} (${person.uuid})`, text }));
    }),
  );
  const { rows } = await world.database.query<{ kind: string; session_uuid: string }>(
    `select kind, session_uuid from letter where kind like 'reminder-%' and exists (
       select from payment where payment.session_uuid = letter.session_uuid and status in ('succeeded', 'duplicate')
         and succeeded_at < sent_at - make_interval(secs => $1))`,
    [ON_ITS_WAY],
  );
  const ofPaid = rows.map(({ kind, session_uuid }) => ({
    subject: `join ${people.find(({ uuid }) => uuid === session_uuid)?.join.name} (${session_uuid})`,
    text: `${kind} was sent after it had been paid for`,
  }));
  return [...ofPeople, ...ofPaid].map((fault) => ({ kind: 'letters that nobody wants', ...fault }));
}
