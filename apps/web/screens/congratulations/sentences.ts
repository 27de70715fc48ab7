import type { Data } from '#contract/schemas.ts';
import { displayPrice } from '#core/money.ts';
import type { MembershipStanding } from '#core/refunds.ts';
import { filled } from '#ui/filled.ts';
import type { ToProve } from '../../lib/toProve.ts';

export type Welcome = Data<'getWelcome'> & { toProve: ToProve | null };

interface Ending {
  title: string;
  text: string;
  /** The text for a member whose name is known. */
  toMember: string;
}

const HAS_ENDED: Ending = {
  title: '{name} ended',
  text: 'Your {name} has ended.',
  toMember: '{firstName}, your {name} has ended.',
};
/** The texts about an ended membership, by the membership's standing. */
const endings: Partial<Record<MembershipStanding, Ending>> = {
  refunded: {
    title: '{name} refunded',
    text: 'Your {name} was refunded and has ended. The money usually takes 5 to 10 business days to show on your statement.',
    toMember:
      '{firstName}, your {name} was refunded and has ended. The money usually takes 5 to 10 business days to show on your statement.',
  },
  charged_back: {
    title: '{name} ended',
    text: 'Your {name} has ended because your bank took the payment back.',
    toMember: '{firstName}, your {name} has ended because your bank took the payment back.',
  },
  void: {
    title: '{name} not in effect',
    text: 'Your {name} is not in effect because our payment provider has no record of a payment for it. If you were charged, please call us.',
    toMember:
      '{firstName}, your {name} is not in effect because our payment provider has no record of a payment for it. If you were charged, please call us.',
  },
};

/** Returns the heading and the text about an ended membership with this name. */
export function endingOf(standing: MembershipStanding, name: string, firstName: string | null) {
  const { title, text, toMember } = endings[standing] ?? HAS_ENDED;
  return {
    title: filled(title, { name }),
    text: firstName ? filled(toMember, { firstName, name }) : filled(text, { name }),
  };
}

/** Returns the sentence that says who is a member now. With `toProve`, it is not known whether the page's user is the member. */
export function newMember({ toProve, firstName }: Welcome, society: string): string {
  if (toProve)
    return firstName
      ? `${firstName} is now a member of ${society}.`
      : `The student is now a member of ${society}.`;
  return firstName
    ? `${firstName}, you are now a member of ${society}.`
    : `You are now a member of ${society}.`;
}

/** Returns the sentence that says to whom emails go if it is not known whether the page's user is the member; otherwise null. */
export function emailsGoTo({ toProve, firstName }: Welcome): string | null {
  if (!toProve) return null;
  return firstName ? `These emails go to ${firstName}.` : 'These emails go to the member.';
}

/** For each cause, the sentences for a payment that staff must decide on, that is refunded, or that is being refunded. */
const refunds = {
  other_amount: [
    'We received a payment of {amount}, which was not the amount of your order. It has not been refunded yet: we are looking into it and will write to you.',
    'We received a payment of {amount}, which was not the amount of your order, and have refunded it in full.',
    'We received a payment of {amount}, which was not the amount of your order, and are refunding it in full.',
  ],
  join: [
    'We received a second payment of {amount} for this membership. It has not been refunded yet: we are looking into it and will write to you.',
    'We received a second payment of {amount} for this membership, and have refunded it in full.',
    'We received a second payment of {amount} for this membership, and are refunding it in full.',
  ],
  upgrade: [
    'We received a payment of {amount} for an upgrade that was no longer available. It has not been refunded yet: we are looking into it and will write to you.',
    'We received a payment of {amount} for an upgrade that was no longer available, and have refunded it in full.',
    'We received a payment of {amount} for an upgrade that was no longer available, and are refunding it in full.',
  ],
} as const;

/** Returns the sentence about the refund of a payment that bought nothing. */
export function noteOfRefund({
  kind,
  why,
  amount,
  isReturned,
  isWithStaff,
}: Welcome['refunded'][number]): string {
  const [withStaff, returned, returning] = refunds[why === 'other_amount' ? why : kind];
  const text = isWithStaff ? withStaff : isReturned ? returned : returning;
  return filled(text, { amount: displayPrice(amount) });
}
