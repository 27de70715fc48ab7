/**
 * The page that browser.test.ts opens: a payment form made of the provider's real browser packages. The URL's query decides what
 * the page does; `window.seen` records what happened, for the test to read.
 */

import {
  AddressElement,
  Elements,
  ExpressCheckoutElement,
  PaymentElement,
  useElements,
  useStripe,
} from '@stripe/react-stripe-js';
import type { StripeElementLocale, StripeExpressCheckoutElementOptions } from '@stripe/stripe-js';
import { loadStripe } from '@stripe/stripe-js/pure/index.js';
import { StrictMode, useState } from 'react';
import { createRoot } from 'react-dom/client';

const query = new URLSearchParams(location.search);
const clientSecret = query.get('secret')!;
const seen: { changes: unknown[]; ready: string[]; express: [string, unknown][]; result?: unknown } = {
  changes: [],
  ready: [],
  express: [],
};
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

/** A wallet's button, in its own `Elements` group. `express` in the URL's query decides how the page answers a click on it. */
function Express({ answer }: { answer: string }) {
  const stripeJs = useStripe();
  const elements = useElements();
  const [message, setMessage] = useState('');
  const note = (name: string, event: unknown) => seen.express.push([name, structuredClone(event)]);
  return (
    <section>
      <ExpressCheckoutElement
        options={expressOptions}
        onReady={({ availablePaymentMethods }) => note('ready', availablePaymentMethods)}
        onClick={({ resolve, reject, expressPaymentType }) => {
          note('click', expressPaymentType);
          if (answer === 'reject') reject();
          else if (answer !== 'nothing')
            resolve({ lineItems: [{ name: 'Membership', amount: answer === 'too much' ? 6501 : 6500 }] });
        }}
        onConfirm={async ({ billingDetails, expressPaymentType, paymentFailed }) => {
          note('confirm', { billingDetails, expressPaymentType });
          if (billingDetails?.address.country === 'FR')
            return paymentFailed({ reason: 'invalid_billing_address', message: 'Not from there.' });
          const { error } = await stripeJs!.confirmPayment({
            elements: elements!,
            redirect: 'if_required',
            confirmParams: { return_url: new URL('/return', location.href).href },
          });
          setMessage(error?.message ?? 'paid');
        }}
        onCancel={() => note('cancel', null)}
      />
      <button type="button" onClick={() => void elements!.submit().catch((e) => setMessage(String(e)))}>
        Submit the wallet
      </button>
      <button
        type="button"
        onClick={() => void elements!.fetchUpdates().then(() => setMessage('the wallet is updated'))}
      >
        Update the wallet
      </button>
      <output>{message}</output>
    </section>
  );
}

const expressOptions: StripeExpressCheckoutElementOptions = {
  business: { name: 'The Society' },
  billingAddressRequired: true,
  paymentMethods: { amazonPay: 'never', klarna: 'never', link: 'never', paypal: 'never' },
  ...JSON.parse(query.get('options') ?? '{}'),
};

createRoot(document.getElementById('root')!).render(
  <StrictMode>
    {query.has('express') && (
      <Elements stripe={stripe} options={{ clientSecret, loader: 'never' }}>
        <Express answer={query.get('express')!} />
      </Elements>
    )}
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
