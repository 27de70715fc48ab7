import type { StripeError } from '@stripe/stripe-js';
import { poll } from '#ui/poll.ts';

/** Without an error, the card provider refuses nothing. */
export interface ProviderAnswer {
  error?: StripeError | undefined;
}

/** How often (ms) a page asks whether a payment was made, while the card provider has not answered. */
const ASK_EVERY_MS = 5000;

/**
 * Resolves with the card provider's answer, or with no error once `isPaid` says that the payment was made: the provider's answer may be
 * lost. `isPaid` asks the server; what it throws counts as no.
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
