import { screens } from './navigation.ts';

/**
 * The states of a join session, in their order. A session goes back in two cases only. An order frozen for payment (`paying`) is
 * open (`ordering`) again when the payment fails, is abandoned or buys nothing. A join that was recorded as `paid` by mistake is
 * `ordering` again after the operator command `settle`.
 */
export const joinSessionStates = ['started', 'detailed', 'ordering', 'paying', 'paid'] as const;
export type JoinSessionState = (typeof joinSessionStates)[number];

/** The actions on a session that the session's state allows or refuses. */
export type SessionAction =
  | 'readContact'
  | 'submitDetails'
  | 'readMemberships'
  | 'setMembership'
  | 'readCheckout'
  | 'changeOrder'
  | 'createPaymentIntent'
  | 'beginPayment'
  | 'releasePayment'
  | 'confirmPayment'
  | 'readUpgrade'
  | 'upgrade'
  | 'skipUpgrade'
  | 'uploadTranscript';

/** The states that allow each action. The server enforces this table, and the screens follow the server's answers. */
const allowed: Record<SessionAction, readonly JoinSessionState[]> = {
  readContact: ['started', 'detailed', 'ordering', 'paying'],
  submitDetails: ['started', 'detailed', 'ordering'],
  readMemberships: ['detailed', 'ordering', 'paying'],
  setMembership: ['detailed', 'ordering'],
  readCheckout: ['ordering', 'paying'],
  changeOrder: ['ordering'],
  createPaymentIntent: ['ordering', 'paying'],
  beginPayment: ['ordering', 'paying'],
  releasePayment: ['ordering', 'paying'],
  confirmPayment: ['ordering', 'paying', 'paid'],
  readUpgrade: ['paid'],
  upgrade: ['paid'],
  skipUpgrade: ['paid'],
  uploadTranscript: ['paid'],
};

/** Returns the states that allow an action, for SQL statements that check the state and write in one step. */
export function statesAllowing(action: SessionAction): readonly JoinSessionState[] {
  return allowed[action];
}

export const sessionActions = Object.keys(allowed) as readonly SessionAction[];

export const ALREADY_PAID = 'This membership has already been paid for.';
export const PAYMENT_UNDER_WAY =
  'A payment for this order is in progress. Finish it, or wait a moment and try again.';
export const DETAILS_FIRST = 'Please submit your student details first.';
export const MEMBERSHIP_FIRST = 'Please choose a membership first.';
export const PAYMENT_FIRST = 'Please complete your payment first.';

/** Returns the sentence that refuses an action in a state; null if the state allows it. */
export function refusal(action: SessionAction, state: JoinSessionState): string | null {
  if (allowed[action].includes(state)) return null;
  if (allowed[action].every((one) => one === 'paid')) return PAYMENT_FIRST;
  switch (state) {
    case 'paid':
      return ALREADY_PAID;
    case 'paying':
      return PAYMENT_UNDER_WAY;
    case 'detailed':
      return MEMBERSHIP_FIRST;
    default:
      return DETAILS_FIRST;
  }
}

/** The facts that decide on which screen a session continues. */
export interface Standing {
  state: JoinSessionState;
  /** The id of the payment intent that paid for the join; null if the join is unpaid. */
  paymentIntent: string | null;
  /** Whether the upgrade is still on offer. */
  upgradeOpen: boolean;
  owesTranscript: boolean;
}

/**
 * Returns the screen on which a session continues: before payment that of the first unfinished step, after payment the upgrade
 * while it is on offer, and then the screen of {@link screenAfterUpgrade}.
 */
export function screenToGoOn(standing: Standing): string {
  switch (standing.state) {
    case 'started':
      return screens.studentDetails;
    case 'detailed':
      return screens.membership;
    case 'ordering':
    case 'paying':
      return screens.checkout;
    case 'paid':
      if (standing.upgradeOpen && standing.paymentIntent)
        return `${screens.upgrade}?payment_intent=${encodeURIComponent(standing.paymentIntent)}`;
      return screenAfterUpgrade(standing.owesTranscript);
  }
}

/**
 * Returns the screen after the upgrade: the transcript upload if a transcript is owed, otherwise congratulations (specification,
 * section 4).
 */
export function screenAfterUpgrade(owesTranscript: boolean): string {
  return owesTranscript ? screens.uploadTranscript : screens.congratulations;
}
