import { AddressElement, PaymentElement, useElements, useStripe } from '@stripe/react-stripe-js';
import { useRef, useState } from 'react';
import { displayPrice } from '#core/money.ts';
import { payerFaults } from '#core/payLink.ts';
import { CARDS_ACCEPTED, PAYMENT_IS_SLOW } from '#core/sentences.ts';
import { BILLING_COUNTRIES } from '#core/specified.ts';
import { Alert, Note } from '#ui/Alert.tsx';
import { Button } from '#ui/Button.tsx';
import { Checkbox, TextField } from '#ui/Field.tsx';
import { Form } from '#ui/Form.tsx';
import { Hint } from '#ui/Text.tsx';
import { useForm } from '#ui/useForm.ts';
import { useSlow } from '#ui/useSlow.ts';
import { CardElements, cardOptions } from '../../components/CardElements.tsx';
import { TryAgain } from '../../components/TryAgain.tsx';
import type { PayOrder } from './loader.ts';
import { type Ended, pay } from './pay.ts';
import styles from './styles.module.css';

interface Props {
  token: string;
  order: PayOrder;
  guardianConsent: string | null;
  /** The outcome of the last try. */
  ended: Ended | null;
  onEnd: (ended: Ended | null) => Promise<void>;
  /** Asks the server again for the outcome of the last try. */
  onAskAgain: () => void;
  isAsking: boolean;
}

/** The form with which somebody else pays. The intent is created when the button is pressed. */
export function PayForm(props: Props) {
  return (
    <CardElements amount={props.order.total} placeholderClass={styles.unloaded}>
      {(onLoadError) => <Fields {...props} onLoadError={onLoadError} />}
    </CardElements>
  );
}

function Fields({
  token,
  order,
  guardianConsent,
  ended,
  onEnd,
  onAskAgain,
  isAsking,
  onLoadError,
}: Props & { onLoadError: (event: { error: unknown }) => void }) {
  const stripe = useStripe();
  const elements = useElements();
  const [ready, setReady] = useState({ address: false, card: false });
  const [busy, setBusy] = useState(false);
  const isSlow = useSlow(busy);
  const isWorking = useRef(false);
  const form = useForm({ email: '', hasGuardianConsent: false }, (typed) => {
    // Stripe's address form checks the name, so a name that is always valid is passed here.
    const { name: _, ...faults } = payerFaults(
      { ...typed, name: '-' },
      { asksConsent: guardianConsent !== null },
    );
    return faults;
  });
  const canPay = stripe !== null && elements !== null && ready.address && ready.card;

  async function submit() {
    if (!canPay || isWorking.current) return;
    const email = form.values.email.trim();
    const [missing] = Object.keys(form.check({ ...form.values, email }));
    if (missing) return document.getElementById(missing)?.focus();
    isWorking.current = true;
    setBusy(true);
    await onEnd(null);
    const wanted = { token, revision: order.revision, ...form.values, email };
    const end = await pay(wanted, { stripe, elements });
    if ('errors' in end && end.errors) form.refuse(end.errors);
    await onEnd(end);
    isWorking.current = false;
    setBusy(false);
  }

  return (
    <Form onSubmit={() => void submit()}>
      <section className={styles.block} aria-labelledby="you">
        <h2 id="you">Your details</h2>
        <TextField
          id="email"
          label="Your email"
          type="email"
          autoComplete="email"
          hint="Only you get the receipt."
          value={form.values.email}
          onChange={({ target }) => form.change({ email: target.value })}
          error={form.errors.email}
          required
        />
      </section>
      <section className={styles.block} aria-labelledby="billing">
        <h2 id="billing">Billing address</h2>
        <p className={styles.intro}>{CARDS_ACCEPTED}</p>
        <AddressElement
          options={{ mode: 'billing', allowedCountries: BILLING_COUNTRIES }}
          onLoadError={onLoadError}
          onReady={() => setReady((now) => ({ ...now, address: true }))}
        />
      </section>
      <section className={styles.block} aria-labelledby="card">
        <h2 id="card">Card</h2>
        <PaymentElement
          options={cardOptions}
          onLoadError={onLoadError}
          onReady={() => setReady((now) => ({ ...now, card: true }))}
        />
      </section>
      <div className={styles.pay}>
        {guardianConsent !== null && (
          <Checkbox
            id="hasGuardianConsent"
            label={guardianConsent}
            checked={form.values.hasGuardianConsent}
            onChange={({ target }) => form.change({ hasGuardianConsent: target.checked })}
            error={form.errors.hasGuardianConsent}
            required
          />
        )}
        <Button type="submit" full disabled={!canPay} busy={busy && 'Processing…'}>
          {`Pay ${displayPrice(order.total)}`}
        </Button>
        {ended?.is === 'changed' && <Note isAnswer>{ended.message}</Note>}
        {(ended?.is === 'failed' || ended?.is === 'unknown') && <Alert isAnswer>{ended.message}</Alert>}
        {ended?.is === 'unknown' && (
          <TryAgain variant="second" retryMs={0} onTry={onAskAgain} busy={isAsking} />
        )}
        {isSlow && <Note isAnswer>{PAYMENT_IS_SLOW}</Note>}
        <Hint>
          Your card is charged once, and is not kept. Payments by Stripe:{' '}
          <a href="https://stripe.com/legal/end-users">Terms</a>,{' '}
          <a href="https://stripe.com/privacy">Privacy</a>
        </Hint>
      </div>
    </Form>
  );
}
