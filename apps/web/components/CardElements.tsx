import { Elements } from '@stripe/react-stripe-js';
import type { Appearance, Stripe } from '@stripe/stripe-js';
import { type ReactNode, startTransition, useCallback, useEffect, useMemo, useState } from 'react';
import { Alert } from '#ui/Alert.tsx';
import { Button } from '#ui/Button.tsx';
import { loadPayments } from '../lib/payments.ts';
import { useSite } from '../lib/site.ts';
import styles from './CardElements.module.css';

/**
 * Options of Stripe's card forms that turn Link off, even if the Stripe account has it enabled. With Link the joiner could pay from
 * a bank account, but the upgrade needs a card to charge again (https://docs.stripe.com/payments/link/link-payment-integrations).
 */
export const cardOptions = { wallets: { link: 'never' } } as const;

/** The same for a form below the wallets' own buttons, where the form would otherwise offer the wallets a second time. */
export const onlyCardOptions = { wallets: { applePay: 'never', googlePay: 'never', link: 'never' } } as const;

const NOT_LOADED = 'The card form could not be loaded. Nothing was charged. Please check your connection.';

/**
 * Loads Stripe's script and provides Stripe's Elements to the card form in `children`. If the script or an element does not load,
 * shows a message and a button to try again.
 * - `clientSecret`: when it changes, the form is mounted again, and is empty.
 * - `amount` (cents): given instead of `clientSecret` for a form whose intent is only created when its button is pressed.
 * - `placeholderClass`: a class with the height of the form.
 * - `onTryAgain`: runs before a retry.
 * - `children`: gets `onLoadError`, which it must pass to each element.
 */
export function CardElements({
  clientSecret,
  amount,
  placeholderClass,
  onTryAgain,
  children,
}: ({ clientSecret: string; amount?: never } | { clientSecret?: never; amount: number }) & {
  placeholderClass?: string | undefined;
  onTryAgain?: () => void;
  children: (onLoadError: (event: { error: unknown }) => void) => ReactNode;
}) {
  const { payments } = useSite();
  const [stripe, setStripe] = useState<Stripe | null>(null);
  const [failed, setFailed] = useState(false);
  const load = useCallback(() => {
    setFailed(false);
    loadPayments(payments).then(
      (loaded) => startTransition(() => setStripe(loaded)),
      (error) => {
        console.error(error);
        setFailed(true);
      },
    );
  }, [payments]);
  useEffect(load, [load]);
  const options = useMemo(
    () => ({
      ...(clientSecret === undefined
        ? { mode: 'payment' as const, amount: amount!, currency: 'usd', allowedPaymentMethodTypes: ['card'] }
        : { clientSecret }),
      appearance: appearance(),
      loader: 'auto' as const,
    }),
    [clientSecret, amount],
  );
  if (failed) {
    return (
      <div className={styles.unloaded}>
        <Alert>{NOT_LOADED}</Alert>
        <Button
          variant="second"
          onClick={() => {
            onTryAgain?.();
            load();
          }}
        >
          Try again
        </Button>
      </div>
    );
  }
  if (!stripe) {
    return (
      <div className={`${styles.unloaded} ${placeholderClass ?? ''}`} role="status">
        <span className={styles.waiting}>Loading the card form…</span>
      </div>
    );
  }
  return (
    <Elements key={clientSecret} stripe={stripe} options={options}>
      {children(({ error }) => {
        console.error(NOT_LOADED, error);
        setFailed(true);
      })}
    </Elements>
  );
}

/** Returns the appearance of Stripe's fields, with the present values of our design tokens in the document. */
export function appearance(): Appearance {
  const tokens = getComputedStyle(document.documentElement);
  const token = (name: string) => tokens.getPropertyValue(name).trim();
  return {
    theme: 'stripe',
    variables: {
      colorPrimary: token('--red'),
      colorDanger: token('--danger'),
      colorText: token('--ink'),
      colorTextSecondary: token('--ink-soft'),
      colorBackground: token('--white'),
      fontFamily: token('--sans'),
      fontSizeBase: '16px',
      borderRadius: '8px',
      spacingUnit: '4px',
    },
    rules: {
      '.Input': { borderColor: token('--control'), boxShadow: 'none', padding: '12px 13px' },
      '.Input:focus': { boxShadow: `0 0 0 3px ${token('--red')}`, borderColor: token('--red') },
      '.Label': { fontWeight: '600', fontSize: '14.5px', marginBottom: '5px' },
    },
  };
}
