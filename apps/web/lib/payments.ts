import type { Stripe } from '@stripe/stripe-js';
// The package's own types for its ES module cannot be resolved by Node's rules; those of this file can.
import { loadStripe } from '@stripe/stripe-js/pure/index.js';
import type { Site } from '#contract/schemas.ts';

let loading: Promise<Stripe> | null = null;

/**
 * The card provider's script, loaded on demand and once. A failure is not kept: asking again tries again.
 * In test mode a stand-in's script comes first; it puts itself where the provider's own would be (`window.Stripe`).
 */
export function loadPayments(payments: Site['payments']): Promise<Stripe> {
  loading ??= load(payments).catch((error: unknown) => {
    loading = null;
    throw error;
  });
  return loading;
}

async function load({ publishableKey, scriptUrl }: Site['payments']): Promise<Stripe> {
  if (scriptUrl !== null && !('Stripe' in window)) await addScript(scriptUrl);
  const stripe = await loadStripe(publishableKey);
  if (!stripe) throw new Error('The card form exists only in a browser.');
  return stripe;
}

function addScript(source: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const script = document.createElement('script');
    script.src = source;
    script.onload = () => resolve();
    script.onerror = () => {
      script.remove();
      reject(new Error(`The script ${source} could not be loaded.`));
    };
    document.head.append(script);
  });
}
