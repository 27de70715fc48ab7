import type { DeskData } from '#contract/deskSchemas.ts';
import { goodsWords } from '#core/fulfilment.ts';
import { displayMemberNumber } from '#core/memberNumber.ts';
import { counts } from '#core/refunds.ts';
import { originWords } from '#core/story.ts';
import { finalRejection, rejectionReasons } from '#documents/document.ts';
import type { ListedDocument } from '../documents/documentsOf.ts';
import type { ShownPerson } from '../people/showPerson.ts';
import type { Society } from '../society/society.ts';
import { dateOf } from '../society/texts.ts';
import type { EventShown } from './events.ts';
import { storyOf } from './personStory.ts';
import { shownAs } from './transcripts.ts';
import { letterNames, programmeName, refundWords } from './words.ts';

type Person = DeskData<'getPerson'>;
type Payment = Person['joins'][number]['payments'][number];

/** Returns the answer to a desk call about a person. It has numbers for joins instead of their uuids; the oldest join is 1. */
export function personAnswer(
  society: Society,
  person: ShownPerson,
  { problems, events }: { problems: Person['problems']; events: readonly EventShown[] },
): Person {
  const { id, name, email, contactId, standing, details, codes, joins, letters } = person;
  const numberOf = (uuid: string | null) => {
    const index = joins.findIndex((join) => join.uuid === uuid);
    return index === -1 ? null : index + 1;
  };
  const isPaid = (payments: ShownPerson['joins'][number]['payments']) =>
    payments.some(({ status }) => status === 'succeeded');
  return {
    id,
    name,
    email,
    contactId,
    standing,
    problems,
    details,
    codes,
    joins: joins.map(
      (
        { programme, state, origin, createdAt, isErased, openLines, payments, goods, refundAsked },
        index,
      ) => ({
        number: index + 1,
        programme: programmeName(society, programme),
        state,
        origin: originWords(origin),
        startedAt: createdAt.toISOString(),
        isErased,
        openLines: isPaid(payments) ? [] : openLines.map(({ name, priceCents }) => ({ name, priceCents })),
        payments: payments.map(paymentAnswer),
        refundAsked: refundAsked && { ...refundAsked, at: new Date(refundAsked.at).toISOString() },
        goods: goods.map((each) => ({
          name: each.name,
          state: goodsWords(each.state, (time) => dateOf(society, time)),
        })),
      }),
    ),
    others: person.others.map((other) => ({ id: other.id, name: other.name, email: other.email })),
    story: storyOf(society, person, events),
    letters: letters.map(({ id, kind, email, state, at, refusal, join }) => ({
      id,
      kind: letterNames[kind],
      to: email,
      state,
      at: at.toISOString(),
      refusal,
      join: numberOf(join),
    })),
    documents: person.documents.map((document) => ({
      id: document.id,
      kind: document.kind,
      name: document.name,
      sizeBytes: Number(document.size_bytes),
      uploadedAt: document.created_at.toISOString(),
      shownAs: shownAs(document),
      review: document.review,
      reason: reasonOf(person, document),
      reviewedAt: document.reviewed_at?.toISOString() ?? null,
      isRemoved: document.removed_at !== null,
      join: numberOf(document.session_uuid),
    })),
  };
}

function paymentAnswer(payment: ShownPerson['joins'][number]['payments'][number]): Payment {
  const { id, kind, status, cents, paidAt, card, payer, standing, memberNumber } = payment;
  return {
    intent: id,
    kind,
    status,
    amountCents: cents,
    refundedCents: payment.refunds.filter(counts).reduce((sum, refund) => sum + refund.cents, 0),
    paidAt: isoOf(paidAt),
    card,
    payer,
    standing,
    memberNumber: memberNumber && displayMemberNumber(memberNumber),
    lines: payment.lines.map(({ productId, type, name, priceCents, refundedCents }) => ({
      productId,
      type,
      name,
      priceCents,
      refundedCents,
    })),
    refunds: payment.refunds.map((refund) => ({
      id: refund.uuid,
      isElsewhere: refund.isElsewhere,
      amountCents: refund.cents,
      why: refundWords(refund),
      status: refund.status,
      refusal: refund.refusal,
      at: isoOf(refund.at)!,
    })),
  };
}

/** Returns the sentence that the applicant reads about why a document was rejected; null if it was not. */
function reasonOf({ joins }: ShownPerson, document: ListedDocument): string | null {
  if (document.review !== 'rejected' || document.reason === null) return null;
  if (!document.is_final) return rejectionReasons[document.reason];
  const join = joins.find(({ uuid }) => uuid === document.session_uuid);
  const isReturned = join?.payments.some(({ standing }) => standing === 'refunded') ?? false;
  return finalRejection({ isReturned });
}

/** Converts a time from PostgreSQL's JSON, which has microseconds and an offset, to ISO format in UTC. */
function isoOf(time: string | null): string | null {
  return time === null ? null : new Date(time).toISOString();
}
