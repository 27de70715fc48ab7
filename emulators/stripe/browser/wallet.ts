import { BASE } from './api.ts';

/** The contents of a wallet's sheet. Amounts are in cents. */
export interface Sheet {
  business: string | null;
  lines: LineItem[];
  amount: number;
  currency: string;
}

export interface LineItem {
  name: string;
  amount: number;
}

/** The payer's choice in a wallet: a card's number, and the billing details; null if there was no sheet, which asks for them. */
export interface WalletChoice {
  number: string;
  billing: WalletBilling | null;
}

export interface WalletBilling {
  name: string;
  email: string;
  address: Record<'line1' | 'city' | 'state' | 'postal_code' | 'country', string> & { line2: null };
}

/** A wallet's window as its frame sees it. */
export interface OpenWallet {
  focus(): void;
  /** Shows why the payment failed. The payer can then choose another card or address. */
  fail(message: string): void;
  close(): void;
}

/** How often (ms) the frame checks whether the wallet's window was closed. Browsers have no event for that. */
const LOOK_MS = 100;

/**
 * Opens the wallet's window from a frame, with a sheet or with a card alone. `told` is called with each choice, and with null if
 * the user closes the window. Returns null if no window could be opened.
 */
export function openWallet(
  sheet: Sheet | null,
  told: (choice: WalletChoice | null) => void,
): OpenWallet | null {
  const opened = window.open(`${BASE}wallet.html`, 'emulated-stripe-wallet', 'popup,width=420,height=640');
  if (opened === null) return null;
  const send = (message: object): void => opened.postMessage(message, window.location.origin);
  const hear = ({ source, origin, data }: MessageEvent): void => {
    if (source !== opened || origin !== window.location.origin) return;
    if (data === 'open') send({ sheet });
    else told(data as WalletChoice);
  };
  const stop = (): void => {
    window.removeEventListener('message', hear);
    clearInterval(looking);
  };
  const looking = setInterval(() => {
    if (!opened.closed) return;
    stop();
    told(null);
  }, LOOK_MS);
  window.addEventListener('message', hear);
  // The sheet closes with its element.
  window.addEventListener('pagehide', () => opened.close());
  return {
    focus: () => opened.focus(),
    fail: (message) => send({ message }),
    close: () => {
      stop();
      opened.close();
    },
  };
}
