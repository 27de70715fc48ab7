import { createHash } from 'node:crypto';
import { proofCalendarPath } from '#contract/calls.ts';
import { cleanText } from '#core/cleanText.ts';
import { firstNameAndInitial } from '#core/firstNameAndInitial.ts';
import { isToPayer } from '#core/letterKinds.ts';
import { nameForLetter } from '#core/letterName.ts';
import { displayMemberNumber } from '#core/memberNumber.ts';
import { displayPrice, shortPrice } from '#core/money.ts';
import { CHECK_PATH, type LinkedScreen } from '#core/navigation.ts';
import type { OrderLine } from '#core/orderLine.ts';
import { CODE_MINUTES } from '#core/pass.ts';
import { isDonationType, isMembershipType } from '#core/product.ts';
import { providerEmail } from '#core/providerEmail.ts';
import { isReminder } from '#core/reminders.ts';
import { proofDueAt } from '#core/specified.ts';
import { finalRejection, rejectionReasons } from '#documents/document.ts';
import type { MailAddress } from '../platform/config/mail.ts';
import type { Mail } from '../providers/mail/client.ts';
import { dateOf, dayOf, fillIn, receiptNotes } from '../society/texts.ts';
import type { Deps } from './deps.ts';
import {
  type AmountTable,
  CREST,
  contentOf,
  htmlOf,
  type LetterValues,
  type Sender,
  textOf,
} from './render.ts';
import type { FailedData, Letter, RejectionData, SentData } from './takeLetter.ts';

/** The dependencies that composing letters needs. */
export type Writing = Pick<
  Deps,
  'config' | 'society' | 'environment' | 'letterTexts' | 'icon' | 'passes' | 'stopLinks'
>;

/** Composes the mail of a letter. Returns null if no email address is known to which mail can be sent. */
export function compose(writing: Writing, letter: Letter, now: Date): Mail | null {
  const to = providerEmail(letter.emails);
  if (to === null) return null;
  const { society, letterTexts } = writing;
  const content = contentOf(letterTexts[letter.kind], valuesOf(writing, letter, now));
  const stops = isReminder(letter.kind) ? writing.stopLinks : null;
  const sender: Sender = {
    ...society.society,
    postalAddress: society.letters.postalAddress ?? null,
    stopPage: stops?.pageAddress(to) ?? null,
    checkPage: writing.config.publicUrl + CHECK_PATH,
  };
  const from = senderOf(writing);
  return {
    messageId: messageIdOf(writing, letter, from),
    from,
    replyTo: writing.config.mail?.replyTo ?? supportOf(writing),
    to,
    subject: content.subject,
    text: textOf(content, sender),
    html: htmlOf(content, sender),
    // Marks the mail as automatic, so that autoresponders do not reply to it (RFC 3834).
    headers: {
      'auto-submitted': 'auto-generated',
      'content-language': 'en',
      ...(stops && oneClick(stops, to)),
    },
    pictures: [{ cid: CREST, type: 'image/png', bytes: writing.icon }],
  };
}

/** Returns the header fields that make mail clients show their own unsubscribe button (RFC 2369, RFC 8058). */
function oneClick(stops: Deps['stopLinks'], to: string): Record<string, string> {
  return {
    'list-unsubscribe': `<${stops.oneClickAddress(to)}>`,
    'list-unsubscribe-post': 'List-Unsubscribe=One-Click',
  };
}

/** Returns the sender of letters: the configured address, otherwise the society's support address. */
function senderOf({ config, society }: Pick<Writing, 'config' | 'society'>): MailAddress {
  return config.mail?.from ?? supportOf({ society });
}

function supportOf({ society: { society } }: Pick<Writing, 'society'>): MailAddress {
  return { name: society.name, address: society.supportEmail };
}

/**
 * Returns the Message-ID of a letter, by which mail servers and clients recognise a duplicate. It is the same for each try to
 * send the letter, even if a restored database has made the letter due a second time.
 */
function messageIdOf(
  { environment }: Pick<Writing, 'environment'>,
  { kind, sessionUuid, occasion }: Letter,
  { address }: MailAddress,
): string {
  const name = createHash('sha256')
    .update([environment, kind, sessionUuid ?? '', occasion].join('\n'))
    .digest('hex')
    .slice(0, 32);
  return `<${name}@${address.split('@')[1]}>`;
}

function valuesOf({ society, passes, config }: Writing, letter: Letter, now: Date): LetterValues {
  const key = letter.programme ?? society.defaultProgramme;
  const programme = society.programme(key);
  const fee = shortPrice(letter.processingFeeCents ?? programme.processingFeeCents);
  const fill = (text: string) => fillIn(text, society, key, { fee });
  const { payment, refund, sessionUuid, paidAt, data } = letter;
  const bought = payment?.lines.find(({ type }) => isMembershipType(type));
  const alreadyHeld = letter.held.find(({ type, name }) => type === bought?.type && name !== null);
  const isOfEnded = bought?.type === 'membership_upgrade' && letter.held.length === 0;
  const owesProof = (letter.isSelfNomination || programme.transcriptRequired) && !letter.hasProof;
  const inWords = (date: Date) => dateOf(society, date);
  const paidOn = payment?.succeededAt && inWords(new Date(payment.succeededAt));
  const due = paidAt === null ? null : proofDueAt(paidAt);
  const daysLeft = due === null ? 0 : Math.ceil((due.getTime() - now.getTime()) / 86_400_000);
  const isFinal = data.isFinal === true;
  const toPayer = isToPayer(letter.kind);
  // If somebody else paid, their card is shown only in letters to the payer.
  const shownCard = toPayer || !payment?.byPayLink ? payment?.card : null;
  const card = shownCard ? `${shownCard.brand} ending ${shownCard.last4}` : undefined;
  const payer = payment?.byPayLink
    ? (nameForLetter(payment.payerName ?? '') ?? 'the person who paid for you')
    : null;
  const page = (screen?: LinkedScreen) =>
    sessionUuid === null ? undefined : passes.address(sessionUuid, screen);
  const firstName = nameForLetter((toPayer ? payment?.payerName : letter.firstName) ?? '');
  const texts: LetterValues['texts'] = {
    greeting: firstName === null ? 'Hello,' : `Dear ${firstName},`,
    society: society.society.name,
    shortName: society.society.shortName,
    product: programme.name,
    email: society.society.supportEmail,
    phone: society.society.supportPhone,
    fee,
    refund: fill(programme.refund),
    upgradeRefund: fill(programme.upgradeRefund),
    storeCode: society.store.code,
    discount: `${society.store.discountPercent}%`,
    codeMinutes: `${CODE_MINUTES} minutes`,
  };
  const known: Record<string, string | null | undefined> = {
    firstName,
    membership: bought?.name,
    upgrade: bought?.name,
    keptFee: keptFeeOf(letter, letter.processingFeeCents ?? programme.processingFeeCents),
    endedMembership: endedMembershipOf(letter),
    alreadyHeld: alreadyHeld?.name,
    upgradeOfEnded: isOfEnded ? bought.name : null,
    total: payment && displayPrice((data as Partial<FailedData>).amountCents ?? payment.amountCents),
    amount: refund ? displayPrice(refund.amountCents) : payment && displayPrice(payment.amountCents),
    date: paidOn,
    card,
    joiner: joinerOf(letter),
    returnedTo: payer === null ? 'your card' : `the card of ${payer}`,
    memberNumber: letter.memberNumber && displayMemberNumber(letter.memberNumber),
    daysLeft: daysLeft > 0 ? `${daysLeft} ${daysLeft === 1 ? 'day' : 'days'}` : null,
    dueDate: due !== null && daysLeft > 0 && !isFinal ? inWords(due) : null,
    wasDueDate: due !== null && daysLeft <= 0 ? inWords(due) : null,
    proofDueDate: due !== null && owesProof ? inWords(due) : null,
    askedAmount: letter.request && displayPrice(letter.request.amountCents),
    answerDate:
      letter.request &&
      inWords(new Date(Date.parse(letter.request.askedAt) + society.refunds.answerDays * 86_400_000)),
    goods:
      letter.kind === 'goods-sent'
        ? new Intl.ListFormat('en').format((data as unknown as SentData).goods)
        : null,
    tracking: letter.kind === 'goods-sent' ? (data as unknown as SentData).tracking : null,
    sentence: typeof data.sentence === 'string' ? data.sentence : null,
    code: letter.kind === 'code' && sessionUuid !== null ? passes.code(sessionUuid, letter.occasion) : null,
    reason: letter.kind === 'proof-rejected' ? reasonOf(data as unknown as RejectionData, letter) : null,
  };
  for (const [name, value] of Object.entries(known)) if (value) texts[name] = cleanText(value);
  return {
    texts,
    pages: definedOf({
      welcomePage: page('congratulations'),
      certificatePage: page('congratulations'),
      uploadPage: isFinal ? undefined : page('uploadTranscript'),
      checkoutPage: page('checkout'),
      joinPage: page(),
      portalPage: society.letters.portal ?? page('congratulations'),
      aboutPage: society.society.links.whoWeAre,
      storePage: society.store.url,
      refundsPage: society.society.links.refunds,
      calendarEntry:
        due !== null && owesProof
          ? (config.apiUrl || config.publicUrl) + proofCalendarPath(dayOf(society, due))
          : undefined,
    }),
    tables: definedOf({
      receipt: payment
        ? receiptTable(
            payment,
            letter.kind === 'second-payment',
            paidOn,
            toPayer || payer === null ? card && `with ${card}` : `by ${payer}`,
            receiptNotes(society, payment.lines),
          )
        : undefined,
      refundReceipt: refund ? refundTable(refund, payment, card) : undefined,
    }),
  };
}

function definedOf<Name extends string, Value>(
  values: Record<Name, Value | undefined>,
): Partial<Record<Name, Value>> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Partial<
    Record<Name, Value>
  >;
}

/**
 * Returns the name of the joiner for a letter to the payer. Joiners type their names themselves, so a name must not be able to
 * carry a message: `nameForLetter` rejects such texts.
 */
function joinerOf({ firstName, lastName }: Letter): string {
  const first = nameForLetter(firstName ?? '');
  return (first && firstNameAndInitial(first, lastName)) ?? 'the person who sent you the link';
}

function reasonOf({ reason, isFinal }: RejectionData, letter: Pick<Letter, 'isReturned'>): string {
  return isFinal ? finalRejection(letter) : rejectionReasons[reason];
}

function receiptTable(
  { intentId, amountCents, lines }: NonNullable<Letter['payment']>,
  goesBack: boolean,
  paidOn: string | null | undefined,
  /** How the payment was made: "with Visa ending 4242", or "by NAME". */
  how: string | undefined,
  more: readonly string[],
): AmountTable {
  const paid = paidOn ? `Paid on ${paidOn}` : 'Paid';
  return {
    // A restore may have lost the order.
    lines: lines.length > 0 ? linesOf(lines) : [{ name: 'Your payment', amount: displayPrice(amountCents) }],
    total: { name: goesBack ? 'Being refunded' : 'Total paid', amount: displayPrice(amountCents) },
    notes: [`${paid}${how ? ` ${how}` : ''}`, `Reference: ${intentId}`, ...more],
  };
}

const linesOf = (lines: readonly OrderLine[]) =>
  lines.map((line) => ({ name: nameOf(line), amount: displayPrice(line.priceCents) }));

/**
 * Returns the name of an order line. A donation is always called a donation, whatever its name in the catalogue, because it may be
 * tax-deductible.
 */
function nameOf({ type, name }: OrderLine): string {
  return isDonationType(type) && !/donation/i.test(name) ? `Donation: ${name}` : name;
}

function refundTable(
  { amountCents, lines }: NonNullable<Letter['refund']>,
  payment: Letter['payment'],
  card: string | undefined,
): AmountTable {
  const amount = displayPrice(amountCents);
  const given = lines ?? [];
  // If the sum of the lines is not the whole refund, it is not fully known what the refund was for.
  const isKnown = given.length > 0 && given.reduce((sum, { cents }) => sum + cents, 0) === amountCents;
  const isAll = payment?.amountCents === amountCents;
  const instead = { name: isAll ? 'Your payment' : 'Part of your payment', amount };
  return {
    lines: isKnown
      ? given.map(({ name, cents }) => ({ name, amount: displayPrice(cents) }))
      : isAll && payment.lines.length > 0
        ? linesOf(payment.lines)
        : [instead],
    total: { name: 'Refunded', amount },
    notes: [...(card ? [`To ${card}`] : []), ...(payment ? [`Reference: ${payment.intentId}`] : [])],
  };
}

/** Returns how much of a refunded membership was kept as processing fee, for display; null if nothing was kept. */
function keptFeeOf({ payment, refund }: Letter, feeCents: number): string | null {
  if (!payment || payment.goesBack || refund?.reason !== 'ineligible') return null;
  const part = refund.lines?.find(({ line }) => payment.lines[line]?.type === 'membership');
  if (!part) return null;
  const cents = Math.min(feeCents, payment.lines[part.line]!.priceCents - part.cents);
  return cents > 0 ? displayPrice(cents) : null;
}

/**
 * Returns the name of the membership or upgrade that the refund ended, in the form for use within a sentence; null if it ended
 * none.
 */
function endedMembershipOf({ payment, refund, held }: Letter): string | null {
  if (!payment?.isRefunded || !refund) return null;
  const at = payment.lines.findIndex(({ type }) => isMembershipType(type));
  const bought = payment.lines[at];
  const isByRefund = payment.goesBack || refund.lines?.some(({ line }) => line === at);
  if (!bought || !isByRefund || held.some(({ type }) => type === bought.type)) return null;
  return bought.name.replace(/^Membership\b/, 'membership');
}
