import { BASE } from './api.ts';

/**
 * Opens the wallet's window from the card's frame. Resolves with the number of the card chosen there, or null if no window could
 * be opened.
 */
export function openWallet(): Promise<string | null> {
  const opened = window.open(`${BASE}wallet.html`, 'emulated-stripe-wallet', 'popup,width=420,height=360');
  if (opened === null) return Promise.resolve(null);
  return new Promise((resolve) => {
    const hear = ({ source, origin, data }: MessageEvent): void => {
      if (source !== opened || origin !== window.location.origin) return;
      window.removeEventListener('message', hear);
      opened.close();
      resolve(String(data));
    };
    window.addEventListener('message', hear);
  });
}
