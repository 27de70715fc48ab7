import type { LetterKind } from '#core/letterKinds.ts';
import { isToPayer, letterKinds } from '#core/letterKinds.ts';
import type { OrderLine } from '#core/orderLine.ts';
import { compose, type Writing } from '../../apps/server/letters/compose.ts';
import { readLetterTexts } from '../../apps/server/letters/readTexts.ts';
import { stopLinks } from '../../apps/server/letters/stopLinks.ts';
import type { Letter } from '../../apps/server/letters/takeLetter.ts';
import type { Config } from '../../apps/server/platform/config/config.ts';
import type { Mail } from '../../apps/server/providers/mail/client.ts';
import { sealedPasses } from '../../apps/server/session/passes.ts';
import { readIcon } from '../../apps/server/society/readIcon.ts';
import { readSociety } from '../../apps/server/society/readSociety.ts';
import { societyFile } from './standIns.ts';

const DAY_MS = 86_400_000;
export const sampleNow = new Date('2026-11-23T12:00:00Z');
const sessionUuid = '00000000-0000-4000-8000-000000000001';

const membership: OrderLine = { productId: 3, type: 'membership', name: 'Membership', priceCents: 9500 };
const lines: OrderLine[] = [
  membership,
  { productId: 29, type: 'donation_other', name: 'Donation to scholarships', priceCents: 1234 },
  { productId: 30, type: 'store', name: 'Lapel Pin', priceCents: 1200 },
];
const upgradeLines: OrderLine[] = [
  { productId: 11, type: 'membership_upgrade', name: 'Distinguished Member upgrade', priceCents: 5500 },
];

/** Returns what `compose` (apps/server/letters) needs besides a letter, for the demo society. */
export function sampleWriting(publicUrl = 'https://join.society.example', file = societyFile): Writing {
  return {
    config: { publicUrl, mail: null } as Config,
    society: readSociety(file),
    letterTexts: readLetterTexts(file),
    icon: readIcon(file),
    environment: 'sample',
    passes: sealedPasses(['a secret for samples'], publicUrl, () => sampleNow),
    stopLinks: stopLinks('a secret for samples', { publicUrl, apiUrl: '' }),
  };
}

/** How long ago (ms) the join was paid. */
function paidAgo(kind: LetterKind): number {
  if (kind === 'proof-due') return 25 * DAY_MS;
  return kind === 'proof-overdue' ? 40 * DAY_MS : 60_000;
}

const dataOf: Partial<Record<LetterKind, Record<string, unknown>>> = {
  'proof-rejected': { reason: 'incomplete', isFinal: false },
  'goods-sent': { shipment: 1, goods: ['Lapel Pin'], tracking: '9400 1000 0000 0000 0000 00' },
  'refund-declined': { sentence: 'Your certificate was printed and sent last week.' },
};

/** Returns a letter of a kind, as a member of the demo society or their payer would get it. `change` overrides parts of it. */
export function sampleLetter(kind: LetterKind, change: Partial<Letter> = {}): Letter {
  const paid = {
    intentId: 'pi_3SampleOfAPayment0001',
    status: kind === 'second-payment' ? ('duplicate' as const) : ('succeeded' as const),
    card: { brand: 'Visa', last4: '4242' },
    succeededAt: new Date(sampleNow.getTime() - 60_000).toISOString(),
  };
  const isRefund = kind === 'refund' || kind === 'payer-refund';
  const bought = kind === 'upgrade' ? upgradeLines : kind === 'second-payment' ? [membership] : lines;
  return {
    id: sessionUuid,
    kind,
    sessionUuid,
    occasion: paid.intentId,
    data: dataOf[kind] ?? {},
    dueAt: sampleNow,
    attempts: 1,
    emails: ['jordan.rivera@example.com'],
    programme: 'undergraduate',
    state: 'paid',
    isSelfNomination: true,
    isProven: false,
    processingFeeCents: null,
    firstName: 'Jordan',
    lastName: 'Rivera',
    paidAt: new Date(sampleNow.getTime() - paidAgo(kind)),
    memberNumber: '7K3M9QXR',
    isMember: true,
    held: isRefund ? [] : [{ type: 'membership', name: membership.name }],
    hasProof: false,
    isRejectedFinally: false,
    hasEnded: false,
    isReturned: false,
    isPayerMember: false,
    payment: {
      ...paid,
      amountCents: bought.reduce((sum, { priceCents }) => sum + priceCents, 0),
      lines: bought,
      byPayLink: isToPayer(kind),
      payerName: isToPayer(kind) ? 'Alex Rivera' : null,
      isHeld: !isRefund,
      isRefunded: isRefund,
      goesBack: !isRefund,
    },
    refund: isRefund
      ? {
          status: 'succeeded',
          reason: 'ineligible',
          amountCents: 9000,
          lines: [{ line: 0, productId: 3, name: 'Membership', cents: 9000 }],
        }
      : null,
    isSent: kind === 'goods-sent',
    request: kind.startsWith('refund-')
      ? {
          amountCents: 9500,
          askedAt: sampleNow.toISOString(),
          isOpen: kind === 'refund-asked',
          isDeclined: kind === 'refund-declined',
        }
      : null,
    review: kind === 'proof-accepted' ? 'accepted' : kind === 'proof-rejected' ? 'rejected' : null,
    ...change,
  };
}

/** Returns every kind of letter as it is sent. */
export function sampleMails(writing = sampleWriting()): { kind: LetterKind; mail: Mail }[] {
  return letterKinds.map((kind) => ({ kind, mail: compose(writing, sampleLetter(kind), sampleNow)! }));
}
