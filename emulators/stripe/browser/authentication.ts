import { answerOf, BASE, type PublicIntent, type Result } from './api.ts';
import { freshId, make } from './dom.ts';
import { adoptStyles } from './style.ts';

/** Shows the card issuer's question in the page, and resolves to the intent after it was answered. */
export function authenticate(intent: PublicIntent): Promise<Result<'value', PublicIntent>> {
  adoptStyles();
  const id = freshId();
  const amount = new Intl.NumberFormat('en-US', { style: 'currency', currency: intent.currency }).format(
    intent.amount / 100,
  );
  const complete = make('button', { type: 'button', autofocus: true }, 'Complete authentication');
  const fail = make('button', { type: 'button' }, 'Fail authentication');
  const dialog = make(
    'dialog',
    { class: 'EmulatedStripeDialog EmulatedStripe', 'aria-labelledby': id },
    make('h2', { id }, 'Authenticate your payment'),
    make(
      'p',
      {},
      `Your bank asks whether this payment of ${amount} is yours. Test mode: no card is charged.`,
    ),
    complete,
    fail,
  );
  return new Promise((resolve) => {
    const answer = async (outcome: 'complete' | 'fail'): Promise<void> => {
      complete.disabled = true;
      fail.disabled = true;
      const body = JSON.stringify({ client_secret: intent.client_secret, outcome });
      const result = await answerOf<PublicIntent>(
        fetch(`${BASE}authenticate/${intent.id}`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body,
        }),
      );
      dialog.close();
      dialog.remove();
      resolve(result);
    };
    complete.addEventListener('click', () => void answer('complete'));
    fail.addEventListener('click', () => void answer('fail'));
    // Escape closes the question: an answer that was not given is a failed one.
    dialog.addEventListener('cancel', (event) => {
      event.preventDefault();
      if (!fail.disabled) void answer('fail');
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}
