import { PaymentElement, useElements, useStripe } from '@stripe/react-stripe-js';
import type { Stripe, StripeElements } from '@stripe/stripe-js';
import { useEffect, useRef, useState } from 'react';
import { UPGRADE_FAILED } from '#core/sentences.ts';
import { Button } from '#ui/Button.tsx';
import { Form } from '#ui/Form.tsx';
import { CardElements, cardOptions } from '../../components/CardElements.tsx';
import styles from './styles.module.css';

/** The form's id. The submit button refers to it, because the button is outside the form, next to Skip. */
export const OTHER_CARD = 'otherCard';

interface Props {
  clientSecret: string;
  /** The name of the saved card; null when it is unknown. */
  saved: string | null;
  /** Whether no card was saved, since somebody else paid for the join. */
  isOnly: boolean;
  disabled: boolean;
  onReady: () => void;
  onBack: () => void;
  onError: (sentence: string) => void;
  onPay: (stripe: Stripe, elements: StripeElements) => void;
}

/** A form to pay for the upgrade with a card other than the saved one. */
export function OtherCard(props: Props) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  return (
    <section className={styles.other} aria-labelledby="other">
      <div className={styles.otherHead}>
        <h3 id="other" ref={heading} tabIndex={-1}>
          {props.isOnly ? 'Your card' : 'Another card'}
        </h3>
        {!props.isOnly && (
          <Button variant="plain" disabled={props.disabled} onClick={props.onBack}>
            {props.saved ? `Use ${props.saved}` : 'Use the saved card'}
          </Button>
        )}
      </div>
      <CardElements clientSecret={props.clientSecret} placeholderClass={styles.unloadedForm}>
        {(onLoadError) => <CardForm {...props} onLoadError={onLoadError} />}
      </CardElements>
    </section>
  );
}

function CardForm({
  onReady,
  onError,
  onPay,
  onLoadError,
}: Props & { onLoadError: (event: { error: unknown }) => void }) {
  const stripe = useStripe();
  const elements = useElements();
  const [ready, setReady] = useState(false);

  async function pay() {
    if (!stripe || !elements) return;
    const { error } = await elements.submit();
    if (error) onError(error.message ?? UPGRADE_FAILED);
    else onPay(stripe, elements);
  }

  return (
    <Form id={OTHER_CARD} className={ready ? undefined : styles.unloadedForm} onSubmit={pay}>
      <PaymentElement
        options={cardOptions}
        onLoadError={onLoadError}
        onReady={() => {
          setReady(true);
          onReady();
        }}
      />
    </Form>
  );
}
