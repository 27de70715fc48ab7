import { replace } from 'react-router';
import { ApiError, type RetryMs, retryMsOf } from '#client/failures.ts';
import type { Answered } from '#contract/schemas.ts';
import { screens } from '#core/navigation.ts';
import { BANK_DECIDES, OUTCOME_UNKNOWN } from '#core/sentences.ts';
import { poll } from '#ui/poll.ts';
import { call, requireSession } from '../../lib/api.ts';
import { draft, paymentReturn } from '../../lib/session.ts';
import { takeReturn } from '../../lib/takeReturn.ts';

export type Settled = Answered<'postPayment'>;

/** A payment whose outcome is not known (yet). `retryMs` is null if asking again would not help. */
export interface Unknown {
  message: string;
  retryMs?: RetryMs;
}

/** The delays (ms) between polls while the payment is processing: a minute and a half in all. */
const POLL_DELAYS_MS = [1000, 2000, 3000, 5000, 8000, 13_000, 20_000, 20_000, 20_000];
/** After this many polls, the page explains the wait. */
const POLLS_IN_SILENCE = 3;

/**
 * After a return from the card provider, waits for the outcome of the payment. If it succeeded, redirects to the upgrade;
 * otherwise returns the outcome. `onWaiting` is called before each poll with whether the page should explain the wait.
 */
export async function awaitPayment(
  request: Request,
  onWaiting: (isSlow: boolean) => void,
): Promise<{ settled: Settled } | { unknown: Unknown }> {
  const uuid = requireSession();
  const returned = takeReturn(request, paymentReturn);
  if (!returned) {
    console.error('The payment return misses its parameters.');
    return { unknown: { message: OUTCOME_UNKNOWN } };
  }
  let settled: Settled;
  try {
    settled = await poll(
      (tries) => {
        onWaiting(tries >= POLLS_IN_SILENCE);
        return call('postPayment', { params: { uuid }, body: returned, quiet: true });
      },
      ({ status }) => status !== 'processing',
      (tries) => POLL_DELAYS_MS[tries],
      { signal: request.signal, page: document },
    );
  } catch (error) {
    console.error(error);
    // A retry may succeed if there was no response, or if its status was 500 or above.
    const isRefused = error instanceof ApiError && error.status < 500;
    return { unknown: { message: OUTCOME_UNKNOWN, retryMs: isRefused ? null : (retryMsOf(error) ?? 0) } };
  }
  // An answer without a status means that the payment has succeeded (specification, section 2).
  const { status = 'succeeded' } = settled;
  if (status === 'processing') return { unknown: { message: BANK_DECIDES, retryMs: 0 } };
  // The return parameters of a refunded payment stay stored, so that a reload shows the refund again.
  if (status === 'refunded') return { settled };
  paymentReturn.drop();
  if (status !== 'succeeded') {
    console.error(`The payment was not completed: ${status}`);
    return { settled };
  }
  draft.drop();
  throw replace(`${screens.upgrade}?${new URLSearchParams({ payment_intent: returned.paymentIntent })}`);
}
