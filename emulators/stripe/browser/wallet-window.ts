import { make } from './dom.ts';
import { adoptStyles } from './style.ts';
import type { Sheet, WalletBilling, WalletChoice } from './wallet.ts';

const CARDS = ['4242 4242 4242 4242', '4000 0000 0000 0002', '4000 0025 0000 3155'];

const PAYER = { name: 'Jordan Rivera', email: 'wallet@example.com' };
const ADDRESSES: Record<string, WalletBilling> = {
  US: {
    ...PAYER,
    address: {
      line1: '12 Oak Street',
      line2: null,
      city: 'Austin',
      state: 'TX',
      postal_code: '78701',
      country: 'US',
    },
  },
  FR: {
    ...PAYER,
    address: {
      line1: '4 rue du Bac',
      line2: null,
      city: 'Paris',
      state: '',
      postal_code: '75007',
      country: 'FR',
    },
  },
};

const send = (what: WalletChoice | 'open'): void =>
  (window.opener as Window).postMessage(what, window.location.origin);

/**
 * Shows the order and its total, asks for the billing address, and offers the wallet's cards. Without a sheet, only offers one
 * card.
 */
function show(sheet: Sheet | null): void {
  const country = make(
    'select',
    { class: 'Input' },
    make('option', { value: 'US' }, '12 Oak Street, Austin, United States'),
    make('option', { value: 'FR' }, '4 rue du Bac, Paris, France'),
  );
  const said = make('p', { class: 'Error', role: 'alert' });
  const cards = (sheet ? CARDS : CARDS.slice(0, 1)).map((number, index) => {
    const button = make(
      'button',
      { type: 'button', ...(index === 0 && { class: 'First' }) },
      `Visa ending ${number.slice(-4)}`,
    );
    button.addEventListener('click', () => {
      for (const card of cards) card.disabled = true;
      send({ number, billing: sheet && ADDRESSES[country.value]! });
    });
    return button;
  });
  window.addEventListener('message', ({ source, data }: MessageEvent<{ message?: string }>) => {
    if (source !== window.opener || data.message === undefined) return;
    said.textContent = data.message;
    for (const card of cards) card.disabled = false;
  });
  const parts = sheet
    ? [orderOf(sheet), make('label', { class: 'Label' }, 'Billing address ', country), said]
    : [];
  const title = sheet ? `Pay ${sheet.business ?? 'Emulated Society'}` : 'Choose a card of your wallet';
  document.body.replaceChildren(
    make('div', { class: 'EmulatedStripe Question' }, make('h2', {}, title), ...parts, ...cards),
  );
}

function orderOf({ lines, amount, currency }: Sheet): HTMLElement {
  const money = (cents: number) =>
    new Intl.NumberFormat('en-US', { style: 'currency', currency }).format(cents / 100);
  const line = (name: string, cents: number) => make('li', {}, `${name}: ${money(cents)}`);
  return make('ul', {}, ...lines.map((one) => line(one.name, one.amount)), line('Total', amount));
}

adoptStyles();
window.addEventListener('message', ({ source, origin, data }: MessageEvent<{ sheet?: Sheet | null }>) => {
  if (source === window.opener && origin === window.location.origin && data.sheet !== undefined)
    show(data.sheet);
});
send('open');
