import { PAYMENT_UNDER_WAY } from '#core/joinSession.ts';
import { NO_SESSION_FOR_MEMBERSHIP, OUTCOME_UNKNOWN } from '#core/sentences.ts';

/**
 * The states of a payment at Checkout, by the card form or by a wallet, as a pure function. usePayment.ts does the work of each
 * stage, and then sends the event that ends the stage.
 */
export interface Payment {
  /**
   * - `ready`: Buy Now and the wallet's button can be pressed. The wallet's sheet may be open.
   * - `checking`: the form validates what was typed.
   * - `beginning`: the server freezes the order.
   * - `confirming`: the card provider takes the payment, and authenticates the joiner if the bank requires it. If the payment
   *   succeeds, the provider redirects the browser to the payment return.
   * - `releasing`: the payment seems to have failed. The server asks the provider, and unfreezes the order if it has failed.
   * - `reloading`: the order is loaded again.
   * - `leaving`: the payment has succeeded, and the page redirects.
   */
  stage: 'ready' | 'checking' | 'beginning' | 'confirming' | 'releasing' | 'reloading' | 'leaving';
  /** The form that was used last. Only this form can be paying, and the answer is shown next to it. */
  form: FormName;
  /** Counts the payments that were begun. An event of an earlier payment is ignored. */
  attempt: number;
  /** The payment in progress or, if none is, the last one that was tried. */
  wanted: Wanted | null;
  /**
   * The payment that the wallet's open sheet shows and may make; null if no sheet is open, or if the form, the order or the
   * consents have changed since it opened. After a refusal the sheet stays open, and may try again.
   */
  sheet: Wanted | null;
  /** Whether the joiner has confirmed that they pay for somebody else, and must press the wallet's button again. */
  isForAnother: boolean;
  /** The intent of the forms, and the version of its order ({@link versionOf}). */
  intent: { clientSecret: string; version: number } | null;
  /** Whether the card form has the order's present total. */
  total: 'shown' | 'updating' | 'failed';
  /** Why the provider refused the payment. `isOver`: the provider has stated that nothing was charged. */
  refusal: { sentence: string; isOver: boolean } | null;
  /** Whether the last payment may have succeeded, because neither the provider nor the server has reported its outcome. */
  mayBePaid: boolean;
  answer: { kind: 'error' | 'changed' | 'question'; text: string } | null;
  /** The path to which a succeeded payment leads. */
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
  /** The wallet's button was pressed. Its sheet may open if the new state has this `wanted` as its `sheet`. */
  walletPressed: { wanted: Wanted | null };
  sheetClosed: object;
  /** A checkbox was changed, so the joiner opened the sheet under other consents, and it may not pay. */
  consentsChanged: object;
  /** The joiner agreed to pay in the sheet. `fault`: a sentence if cards with this billing address are not accepted. */
  sheetAgreed: { fault: string | null };
  /** The joiner confirmed that a payment by the wallet is for somebody else. */
  saidForAnother: object;
  checked: { attempt: number; fault: string | null };
  /** `isOld`: the page was loaded before the server began to ask for guardian consent, so it has to load the order again. */
  begun: {
    attempt: number;
    refusal: null | { kind: 'error' | 'changed' | 'question'; text: string; isOld: boolean };
  };
  refused: { attempt: number; sentence: string; isOver: boolean };
  /** `state` is the join's state; null if no answer arrived. */
  released: { attempt: number; state: string | null; goOn: string | null };
  reloaded: { attempt: number };
  /** The browser went back from the provider's page and restored this page from the back/forward cache. */
  restored: object;
  /** The card form was mounted, and is empty. */
  formMounted: object;
  intentLoaded: { clientSecret: string; version: number };
  totalUpdated: { version: number; isFailed: boolean };
  /** Try Again was pressed after the card form could not load the new total. */
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
/** Returns the initial state. Events of an earlier attempt are ignored. */
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
      // If a sheet is still open, it may no longer pay, since the card is paying now.
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
    // If the version differs, the order has changed again, and the card form is already loading the newer total.
    now.intent?.version === version ? { ...now, total: isFailed ? 'failed' : 'shown' } : now,
  updatePressed: (now) => ({ ...now, total: 'updating' }),
};

/**
 * Returns the state after an event. An event that is not defined for the stage, or that belongs to an earlier attempt, changes
 * nothing.
 */
export function afterEvent(now: Payment, event: PaymentEvent): Payment {
  if ('attempt' in event && event.attempt !== now.attempt) return now;
  const change = { ...atAnyStage, ...stages[now.stage] }[event.type] as
    | ((now: Payment, event: PaymentEvent) => Payment)
    | undefined;
  return change?.(now, event) ?? now;
}
