import { Elements, ExpressCheckoutElement, useElements } from '@stripe/react-stripe-js';
import type { LineItem, Stripe, StripeExpressCheckoutElementConfirmEvent } from '@stripe/stripe-js';
import { type ReactNode, useEffect, useState } from 'react';
import { CARDS_ACCEPTED } from '#core/sentences.ts';
import { BILLING_COUNTRIES } from '#core/specified.ts';
import { appearance } from '../../components/CardElements.tsx';
import { useSite } from '../../lib/site.ts';
import styles from './ExpressPay.module.css';
import type { usePayment } from './usePayment.ts';

interface ButtonProps {
  stripe: Stripe;
  /** What the sheet lists. The amounts (cents) add up to the total. */
  lines: LineItem[];
  /** Is called when a button is pressed. Returns whether the sheet may open. */
  onPress: () => boolean;
  paying: ReturnType<typeof usePayment>;
}

/**
 * The buttons of the device's wallets. Nothing is shown, and no room is taken, on a device without one. They are Elements of their own,
 * so that paying by a wallet does not check what is typed into the card form.
 *
 * - `version`: of the order. When it changes, the Elements are made anew: Stripe promises only card forms a newer total.
 * - `isPressable`: whether the order can be paid as it is shown.
 * - `children`: the answer to the last payment by a wallet.
 */
export function ExpressPay({
  clientSecret,
  version,
  isPressable,
  children,
  ...rest
}: ButtonProps & { clientSecret: string; version: number; isPressable: boolean; children: ReactNode }) {
  const [options] = useState(() => ({ clientSecret, appearance: appearance(), loader: 'never' as const }));
  const [isOffered, setOffered] = useState<boolean | null>(null);
  const [shown, setShown] = useState(version);
  // Elements that are paying stay until that has ended.
  if (shown !== version && rest.paying.payment.stage === 'ready') setShown(version);
  if (isOffered === false) return children;
  return (
    <section className={styles.wallets} data-offered={isOffered || undefined} aria-label="Pay with a wallet">
      <div className={styles.buttons} inert={!isPressable}>
        <Elements key={shown} stripe={rest.stripe} options={options}>
          <Buttons {...rest} onLoad={setOffered} />
        </Elements>
      </div>
      {children}
      <p className={styles.or}>Or pay with a card</p>
    </section>
  );
}

function Buttons({
  stripe,
  lines,
  onPress,
  paying: { send, agree, mountWallet },
  onLoad,
}: ButtonProps & { onLoad: (isOffered: boolean) => void }) {
  const { society } = useSite();
  const elements = useElements();
  useEffect(
    () => (elements ? mountWallet({ stripe, elements }) : undefined),
    [stripe, elements, mountWallet],
  );
  const [options] = useState(() => expressOptions(society.name));

  function confirm({ billingDetails, paymentFailed }: StripeExpressCheckoutElementConfirmEvent) {
    const isAccepted = BILLING_COUNTRIES.some((country) => country === billingDetails?.address.country);
    agree(isAccepted ? null : CARDS_ACCEPTED, paymentFailed);
  }

  return (
    <ExpressCheckoutElement
      options={options}
      onReady={({ availablePaymentMethods }) => onLoad(availablePaymentMethods !== undefined)}
      onLoadError={({ error }) => {
        // Whoever has no card form either reads it there.
        console.error('The wallets could not be loaded.', error);
        onLoad(false);
      }}
      onClick={({ resolve, reject }) => (onPress() ? resolve({ lineItems: lines }) : reject())}
      onConfirm={confirm}
      onCancel={() => send({ type: 'sheetClosed' })}
    />
  );
}

/**
 * Only Apple Pay and Google Pay, since the upgrade needs a card to charge again. No email is asked for: receipts go to the join's, and
 * another one in the sheet would promise something else.
 */
function expressOptions(society: string) {
  return {
    business: { name: society },
    billingAddressRequired: true,
    buttonHeight: 48,
    paymentMethods: {
      applePay: 'auto' as const,
      googlePay: 'auto' as const,
      amazonPay: 'never' as const,
      klarna: 'never' as const,
      link: 'never' as const,
      paypal: 'never' as const,
    },
  };
}
