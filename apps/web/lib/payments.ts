import type { Stripe } from '@stripe/stripe-js';

// The import has a file's path, because TypeScript's Node resolution finds types for the file but not for the package's ES
// module.
import { loadStripe } from '@stripe/stripe-js/pure/index.js';
import { within } from '#client/within.ts';
import type { Site } from '#contract/schemas.ts';

let loading: Promise<Stripe> | null = null;

/**
 * Loads Stripe's script once, when it is first needed. After a failure the next call loads it again. With the Stripe emulator, the
 * emulator's script is loaded first and defines `window.Stripe`.
 */
export function loadPayments(payments: Site['payments']): Promise<Stripe> {
  loading ??= within(() => load(payments)).catch((error: unknown) => {
    loading = null;
    throw error;
  });
  return loading;
}

async function load({ publishableKey, scriptUrl }: Site['payments']): Promise<Stripe> {
  if (scriptUrl !== null && !('Stripe' in window)) await addScript(scriptUrl);
  const stripe = await loadStripe(publishableKey);
  if (!stripe) throw new Error();
  return stripe;
}

function addScript(source: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const script = document.createElement('script');
    script.src = source;
    script.onload = () => resolve();
    script.onerror = () => {
      script.remove();
      reject(new Error(`${source} could not be loaded.`));
    };
    document.head.append(script);
  });
}
