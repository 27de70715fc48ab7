import { PAYMENT_UNDER_WAY } from '#core/joinSession.ts';
import { NO_SESSION_FOR_MEMBERSHIP, OUTCOME_UNKNOWN } from '#core/sentences.ts';

/**
 * The states of paying at Checkout, by the card form or by a wallet, as a pure function: usePayment.ts does what each stage is for, and sends the event by which it
 * ends.
 */
export interface Payment {
  /**
   * - `ready`: Buy Now and the wallet's button can be pressed. The wallet's sheet may be open.
   * - `checking`: the form checks what is typed.
   * - `beginning`: the server freezes the order.
   * - `confirming`: the card provider takes the payment, and asks the joiner if the bank wants that. If it succeeds, the provider
   *   leads the browser to the payment return.
   * - `releasing`: the payment seems to have failed. The server asks the provider, and unfreezes the order if it has.
   * - `reloading`: the order is loaded again.
   * - `leaving`: the payment was made, and the page goes on.
   */
  stage: 'ready' | 'checking' | 'beginning' | 'confirming' | 'releasing' | 'reloading' | 'leaving';
  /** The form that was used last. Only that one pays, and its answer is shown beside it. */
  form: FormName;
  /** Counts the payments that were begun. An answer to an earlier one is ignored. */
  attempt: number;
  /** What is paid, or was tried last. */
  wanted: Wanted | null;
  /**
   * What the wallet's open sheet shows and may pay; null if none is open, or if another form, another order or other consents have come
   * since. A sheet stays open after a refusal, and may pay then.
   */
  sheet: Wanted | null;
  /** Whether the joiner has said that they pay for somebody else, and has to press the wallet's button again. */
  isForAnother: boolean;
  /** The intent of the forms, and the order's revision, or its total where the server has no revisions. */
  intent: { clientSecret: string; version: number } | null;
  /** Whether the card form has the order's total. */
  total: 'shown' | 'updating' | 'failed';
  /** Why the provider refused the payment. `isOver`: the provider itself says that nothing was charged. */
  refusal: { sentence: string; isOver: boolean } | null;
  /** Whether the last payment may have succeeded: neither the provider nor the server has said how it ended. */
  mayBePaid: boolean;
  answer: { kind: 'error' | 'changed' | 'question'; text: string } | null;
  /** Where a payment that was made leads. */
  goOn: string | null;
}

export type FormName = 'card' | 'wallet';

export interface Wanted {
  uuid: string;
  revision: number;
  agreeToPolicies: boolean;
  hasGuardianConsent: boolean;
  isForAnother: boolean;
}

interface Events {
  /** Buy Now was pressed. `wanted` is null if there is no stored session. */
  pressed: { wanted: Wanted | null };
  /** Buy Now or the wallet's button was pressed, but a checkbox is not ticked. */
  pressedTooSoon: object;
  /** The wallet's button was pressed. Its sheet may open if the state then has this `wanted` as `sheet`. */
  walletPressed: { wanted: Wanted | null };
  sheetClosed: object;
  /** A checkbox was changed: what an open sheet would pay was agreed to otherwise. */
  consentsChanged: object;
  /** The joiner agreed to pay in the sheet. `fault`: the sentence if the billing address cannot pay. */
  sheetAgreed: { fault: string | null };
  /** The question about a payment by the wallet was answered with yes. */
  saidForAnother: object;
  checked: { attempt: number; fault: string | null };
  /** `isOld`: the page lacks what the server asks for. */
  begun: {
    attempt: number;
    refusal: null | { kind: 'error' | 'changed' | 'question'; text: string; isOld: boolean };
  };
  refused: { attempt: number; sentence: string; isOver: boolean };
  /** `state` is the join's; null if no answer came. */
  released: { attempt: number; state: string | null; goOn: string | null };
  reloaded: { attempt: number };
  /** The browser went back from the provider's page, and restored this page as it was left (bfcache). */
  restored: object;
  /** The card form was mounted, and is empty. */
  formMounted: object;
  intentLoaded: { clientSecret: string; version: number };
  totalUpdated: { version: number; isFailed: boolean };
  /** Try again was pressed after the card form could not get the total. */
  updatePressed: object;
}
export type PaymentEvent = { [Type in keyof Events]: { type: Type } & Events[Type] }[keyof Events];
type Row = {
  [Type in keyof Events]?: (now: Payment, event: { type: Type } & Events[Type]) => Payment;
};

export const SHEET_OUTDATED =
  'What your wallet showed is out of date. Nothing was charged. Please press its button again.';
export const PRESS_AGAIN = 'Please press the button of your wallet again to pay for someone else.';

export const initialPayment: Payment = {
  stage: 'ready',
  form: 'card',
  attempt: 0,
  wanted: null,
  sheet: null,
  isForAnother: false,
  intent: null,
  total: 'shown',
  refusal: null,
  mayBePaid: false,
  answer: null,
  goOn: null,
};

const error = (text: string) => ({ kind: 'error' as const, text });
/** Begins anew. What still comes of an earlier attempt is ignored. */
const anew = ({ attempt }: Payment, intent: Payment['intent']) => ({ ...initialPayment, attempt, intent });

const begin = (now: Payment, form: FormName, wanted: Wanted): Payment => ({
  ...now,
  stage: 'checking',
  form,
  attempt: now.attempt + 1,
  wanted,
  answer: null,
});

const stages: Record<Payment['stage'], Row> = {
  ready: {
    pressed(now, { wanted }) {
      if (now.total !== 'shown') return now;
      // Whatever a sheet shows that is still open, the card pays now.
      const other: Payment = { ...now, form: 'card', sheet: null };
      return wanted ? begin(other, 'card', wanted) : { ...other, answer: error(NO_SESSION_FOR_MEMBERSHIP) };
    },
    pressedTooSoon: (now) => ({ ...now, answer: null }),
    walletPressed(now, { wanted }) {
      if (now.total !== 'shown') return now;
      const answer = wanted ? null : error(NO_SESSION_FOR_MEMBERSHIP);
      return { ...now, form: 'wallet', sheet: wanted, answer };
    },
    sheetAgreed(now, { fault }) {
      if (!now.sheet || now.total !== 'shown') {
        const outdated = { kind: 'changed' as const, text: SHEET_OUTDATED };
        return { ...now, form: 'wallet', answer: now.mayBePaid ? error(OUTCOME_UNKNOWN) : outdated };
      }
      if (fault !== null) return { ...now, form: 'wallet', answer: error(fault) };
      return begin(now, 'wallet', now.sheet);
    },
    saidForAnother: (now) => ({
      ...now,
      sheet: null,
      isForAnother: true,
      answer: { kind: 'changed', text: PRESS_AGAIN },
    }),
  },
  checking: {
    checked: (now, { fault }) =>
      fault === null ? { ...now, stage: 'beginning' } : { ...now, stage: 'ready', answer: error(fault) },
  },
  beginning: {
    begun(now, { refusal }) {
      if (!refusal) return { ...now, stage: 'confirming' };
      const { kind, text, isOld } = refusal;
      const isUnknown = kind === 'error' && now.mayBePaid;
      return {
        ...now,
        stage: kind === 'changed' || isOld ? 'reloading' : 'ready',
        answer: isUnknown ? error(OUTCOME_UNKNOWN) : { kind, text },
      };
    },
  },
  confirming: {
    refused: (now, { sentence, isOver }) => ({ ...now, stage: 'releasing', refusal: { sentence, isOver } }),
  },
  releasing: {
    released(now, { state, goOn }) {
      if (state === 'paid') return { ...now, stage: 'leaving', goOn };
      const { sentence, isOver } = now.refusal!;
      if (state === 'paying')
        return { ...now, stage: 'ready', mayBePaid: true, answer: error(PAYMENT_UNDER_WAY) };
      const mayBePaid = state === null && !isOver;
      return { ...now, stage: 'ready', mayBePaid, answer: error(mayBePaid ? OUTCOME_UNKNOWN : sentence) };
    },
  },
  reloading: {
    reloaded: (now) => ({ ...now, stage: 'ready' }),
  },
  leaving: {},
};

const withoutSheet = (now: Payment): Payment => (now.sheet ? { ...now, sheet: null } : now);

const atAnyStage: Row = {
  restored: (now) => ({ ...now, stage: 'ready', sheet: null }),
  sheetClosed: withoutSheet,
  consentsChanged: withoutSheet,
  formMounted: (now) => anew(now, now.intent),
  intentLoaded(now, { clientSecret, version }) {
    if (now.intent?.clientSecret !== clientSecret) return anew(now, { clientSecret, version });
    return now.intent.version === version
      ? now
      : { ...now, intent: { clientSecret, version }, total: 'updating', sheet: null };
  },
  totalUpdated: (now, { version, isFailed }) =>
    // The order has changed again meanwhile, and the card form is getting the newer total.
    now.intent?.version === version ? { ...now, total: isFailed ? 'failed' : 'shown' } : now,
  updatePressed: (now) => ({ ...now, total: 'updating' }),
};

/** Returns the state after an event. An event that the stage does not know, or that is late, changes nothing. */
export function afterEvent(now: Payment, event: PaymentEvent): Payment {
  if ('attempt' in event && event.attempt !== now.attempt) return now;
  const change = { ...atAnyStage, ...stages[now.stage] }[event.type] as
    | ((now: Payment, event: PaymentEvent) => Payment)
    | undefined;
  return change?.(now, event) ?? now;
}
