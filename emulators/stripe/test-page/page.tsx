/**
 * The page that browser.test.ts opens: a payment form made of the provider's real browser packages. The URL's query says what the
 * page is to do; `window.seen` records what happened, for the test to read.
 */

import { AddressElement, Elements, PaymentElement, useElements, useStripe } from '@stripe/react-stripe-js';
import type { StripeElementLocale } from '@stripe/stripe-js';
import { loadStripe } from '@stripe/stripe-js/pure/index.js';
import { StrictMode, useState } from 'react';
import { createRoot } from 'react-dom/client';

const query = new URLSearchParams(location.search);
const clientSecret = query.get('secret')!;
const seen: { changes: unknown[]; ready: string[]; result?: unknown } = { changes: [], ready: [] };
Object.assign(window, { seen });

const stripe = loadStripe('pk_test_emulated');

function Form() {
  const stripeJs = useStripe();
  const elements = useElements();
  const [message, setMessage] = useState('');
  const pay = async () => {
    const redirect = query.get('redirect') === 'always' ? {} : { redirect: 'if_required' as const };
    const confirmParams = {
      return_url: new URL('/return', location.href).href,
      receipt_email: 'payer@example.com',
    };
    const result = await stripeJs!.confirmPayment({
      elements: elements!,
      confirmParams,
      ...(redirect as { redirect: 'if_required' }),
    });
    seen.result = result;
    setMessage(result.error?.message ?? result.paymentIntent?.status ?? '');
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void pay();
      }}
    >
      {query.has('no-address') || (
        <AddressElement
          options={{
            mode: 'billing',
            allowedCountries: ['US', 'CA'],
            defaultValues: { name: 'Jordan Rivera', address: { country: 'US' } },
          }}
          onChange={(event) => seen.changes.push(event)}
          onReady={() => seen.ready.push('address')}
        />
      )}
      <PaymentElement
        onChange={(event) => seen.changes.push(event)}
        onReady={() => seen.ready.push('payment')}
        onLoadError={(event) => seen.ready.push(event.error.message ?? '')}
      />
      <button type="button" onClick={() => void elements!.fetchUpdates().then(() => setMessage('updated'))}>
        Update
      </button>
      <button type="submit" disabled={!stripeJs}>
        Pay
      </button>
      <output>{message}</output>
    </form>
  );
}

createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <Elements
      stripe={stripe}
      options={{
        clientSecret,
        locale: 'en' as StripeElementLocale,
        appearance: { variables: { colorPrimary: '#9e1b32' } },
      }}
    >
      <Form />
    </Elements>
  </StrictMode>,
);
