import { BASE } from './api.ts';

/** What a wallet's sheet shows. Amounts are in cents. */
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

/** What is chosen in a wallet: a card's number, and who is billed; null if the sheet did not ask. */
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
  /** Shows why nothing was paid. Another card or address can be chosen then. */
  fail(message: string): void;
  close(): void;
}

/** How often (ms) the frame looks whether the wallet's window was closed. Browsers do not tell it. */
const LOOK_MS = 100;

/**
 * Opens the wallet's window from a frame, with a sheet or with cards alone. `told` gets each choice, and null if the window is closed
 * by its user. Returns null if no window could be opened.
 */
export function openWallet(
  sheet: Sheet | null,
  told: (choice: WalletChoice | null) => void,
): OpenWallet | null {
  const opened = window.open(`${BASE}wallet.html`, 'emulated-stripe-wallet', 'popup,width=420,height=640');
  if (opened === null) return null;
  const say = (message: object): void => opened.postMessage(message, window.location.origin);
  const hear = ({ source, origin, data }: MessageEvent): void => {
    if (source !== opened || origin !== window.location.origin) return;
    if (data === 'open') say({ sheet });
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
    fail: (message) => say({ message }),
    close: () => {
      stop();
      opened.close();
    },
  };
}
