import { Elements, ExpressCheckoutElement, useElements } from '@stripe/react-stripe-js';
import type { LineItem, Stripe, StripeExpressCheckoutElementConfirmEvent } from '@stripe/stripe-js';
import { type ReactNode, useEffect, useState } from 'react';
import { CARDS_ACCEPTED } from '#core/sentences.ts';
import { BILLING_COUNTRIES } from '#core/specified.ts';
import { appearance } from '../../components/CardElements.tsx';
import { useSite } from '../../lib/site.ts';
import styles from './ExpressPay.module.css';
import type { usePayment } from './usePayment.ts';

interface Props {
  stripe: Stripe;
  clientSecret: string;
  /** What the sheet lists. The amounts (cents) add up to the total. */
  lines: LineItem[];
  /** Whether the order can be paid as it is shown. */
  canBuy: boolean;
  /** Is called when a button is pressed. Returns whether the sheet may open. */
  onPress: () => boolean;
  paying: Pick<ReturnType<typeof usePayment>, 'send' | 'agree' | 'mountWallet'>;
  /** The answer to the last payment by the wallet. */
  children: ReactNode;
}

/**
 * The buttons of the device's wallets. Nothing is shown, and no room is taken, on a device without one. They are Elements of their own,
 * so that paying by a wallet does not check what is typed into the card form.
 */
export function ExpressPay(props: Props) {
  const { stripe, clientSecret } = props;
  const [options] = useState(() => ({ clientSecret, appearance: appearance(), loader: 'never' as const }));
  const [isOffered, setOffered] = useState<boolean | null>(null);
  if (isOffered === false) return null;
  return (
    <Elements stripe={stripe} options={options}>
      <Buttons {...props} isOffered={isOffered === true} onLoad={setOffered} />
    </Elements>
  );
}

function Buttons({
  stripe,
  lines,
  canBuy,
  onPress,
  paying: { send, agree, mountWallet },
  isOffered,
  onLoad,
  children,
}: Props & { isOffered: boolean; onLoad: (isOffered: boolean) => void }) {
  const { society } = useSite();
  const elements = useElements();
  useEffect(
    () => (elements ? mountWallet({ stripe, elements }) : undefined),
    [stripe, elements, mountWallet],
  );
  // Stripe takes these once: later ones are not shown in the sheet.
  const [options] = useState(() => expressOptions(society.name));

  function confirm({ billingDetails, paymentFailed }: StripeExpressCheckoutElementConfirmEvent) {
    const isAccepted = BILLING_COUNTRIES.some((country) => country === billingDetails?.address.country);
    agree(isAccepted ? null : CARDS_ACCEPTED, paymentFailed);
  }

  return (
    <section className={styles.wallets} data-offered={isOffered || undefined} aria-label="Pay with a wallet">
      <div className={styles.buttons} inert={!canBuy}>
        <ExpressCheckoutElement
          options={options}
          onReady={({ availablePaymentMethods }) => onLoad(availablePaymentMethods !== undefined)}
          onLoadError={({ error }) => {
            // The card form says so itself if it does not load either.
            console.error(error);
            onLoad(false);
          }}
          onClick={({ resolve, reject }) => (onPress() ? resolve({ lineItems: lines }) : reject())}
          onConfirm={confirm}
          onCancel={() => send({ type: 'sheetClosed' })}
        />
      </div>
      {children}
      <p className={styles.or}>Or pay with a card</p>
    </section>
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
