import { make } from './dom.ts';
import { adoptStyles } from './style.ts';

adoptStyles();
const card = make('button', { type: 'button', class: 'First' }, 'Visa ending 4242');
card.addEventListener('click', () => {
  (window.opener as Window).postMessage('4242 4242 4242 4242', window.location.origin);
});
document.body.append(
  make('div', { class: 'EmulatedStripe Question' }, make('h2', {}, 'Choose a card of your wallet'), card),
);
