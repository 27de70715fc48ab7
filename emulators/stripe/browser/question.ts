import { answerOf, BASE, type PublicIntent, type Result } from './api.ts';
import { make } from './dom.ts';
import { adoptStyles } from './style.ts';

/** Shows the question of the card's bank in this script's frame. Resolves with the intent after the cardholder's answer. */
export function askCardholder(intent: PublicIntent): Promise<Result<'value', PublicIntent>> {
  adoptStyles();
  const amount = new Intl.NumberFormat('en-US', { style: 'currency', currency: intent.currency }).format(
    intent.amount / 100,
  );
  const complete = make('button', { type: 'button', class: 'First' }, 'Complete authentication');
  const fail = make('button', { type: 'button' }, 'Fail authentication');
  const question = make(
    'div',
    { class: 'EmulatedStripe Question' },
    make('h2', {}, 'Authenticate your payment'),
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
      if (fail.disabled) return;
      complete.disabled = true;
      fail.disabled = true;
      const body = JSON.stringify({ client_secret: intent.client_secret, outcome });
      resolve(
        await answerOf<PublicIntent>(
          fetch(`${BASE}authenticate/${intent.id}`, {
            method: 'POST',
            headers: { 'content-type': 'application/json' },
            body,
          }),
        ),
      );
    };
    complete.addEventListener('click', () => void answer('complete'));
    fail.addEventListener('click', () => void answer('fail'));
    // Closing the question without an answer counts as failed authentication.
    document.addEventListener('keydown', (event) => {
      if (event.key === 'Escape') void answer('fail');
    });
    document.body.append(question);
    complete.focus();
  });
}
