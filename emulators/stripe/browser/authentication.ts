import type { PublicIntent, Result } from './api.ts';
import { make } from './dom.ts';
import { Frame } from './frame-host.ts';
import { adoptStyles } from './style.ts';

/** Shows the question of the card's bank over the page. Resolves with the intent after the cardholder's answer. */
export async function authenticate(intent: PublicIntent): Promise<Result<'value', PublicIntent>> {
  adoptStyles();
  const title = 'Authenticate your payment';
  const frame = new Frame(
    title,
    () => ({ role: 'question' }),
    () => {},
  );
  const dialog = make('dialog', { class: 'EmulatedStripeDialog', 'aria-label': title }, frame.node);
  // Escape must not close the dialog: the question inside treats Escape as a failed authentication.
  dialog.addEventListener('cancel', (event) => event.preventDefault());
  document.body.append(dialog);
  dialog.showModal();
  frame.node.focus();
  try {
    return await frame.ask<Result<'value', PublicIntent>>('ask', intent);
  } catch (error) {
    return { error: error as never };
  } finally {
    dialog.close();
    dialog.remove();
  }
}
