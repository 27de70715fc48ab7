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
  /** The lines that the wallet's sheet lists. Their amounts (cents) add up to the total. */
  lines: LineItem[];
  /** Called when a button is pressed. Returns whether the sheet may open. */
  onPress: () => boolean;
  paying: ReturnType<typeof usePayment>;
}

/**
 * The buttons of the device's wallets (Apple Pay, Google Pay). Without a wallet on the device, shows nothing and takes no space.
 * The buttons have their own Stripe Elements, so that paying by a wallet does not validate the card form.
 * - `version`: the order's version. When it changes, the Elements are created again, because Stripe guarantees a changed total
 *   only for card forms.
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
  // Elements in use are kept until the payment has ended.
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
        // Shows no error to the joiner: if Stripe is not reachable, the card form does not load either and says so.
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
 * Only Apple Pay and Google Pay, since the upgrade needs a card to charge again. The sheet asks for no email: receipts go to the
 * email of the join, and another email in the sheet would wrongly promise a receipt there.
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
