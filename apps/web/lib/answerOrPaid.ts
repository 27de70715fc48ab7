import type { StripeError } from '@stripe/stripe-js';
import { poll } from '#ui/poll.ts';

/** The answer of the card provider. `error` is missing unless the provider refuses the payment. */
export interface ProviderAnswer {
  error?: StripeError | undefined;
}

/** The interval (ms) at which a page asks whether a payment was made, while the card provider has not answered. */
const ASK_EVERY_MS = 5000;

/**
 * Resolves with the card provider's answer. The answer may get lost, so this also resolves (without an error) once `isPaid`
 * returns true. `isPaid` asks the server; if it rejects, this counts as false.
 */
export async function answerOrPaid(
  answer: Promise<ProviderAnswer>,
  isPaid: (signal: AbortSignal) => Promise<boolean>,
): Promise<ProviderAnswer> {
  const ended = new AbortController();
  const { signal } = ended;
  const paid = poll(
    async (tries) => tries > 0 && (await isPaid(signal).catch(() => false)),
    (isOver) => isOver,
    () => ASK_EVERY_MS,
    { signal, page: document },
  );
  try {
    return await Promise.race([answer, paid.then(() => ({}))]);
  } finally {
    ended.abort();
  }
}
