import { AddressElement, PaymentElement, useElements, useStripe } from '@stripe/react-stripe-js';
import { type ChangeEvent, useCallback, useEffect, useState } from 'react';
import { Link, useRevalidator } from 'react-router';
import { displayPrice } from '#core/money.ts';
import { screens } from '#core/navigation.ts';
import type { OrderSummary } from '#core/orderSummary.ts';
import {
  CARDS_ACCEPTED,
  GUARDIAN_CONSENT_REQUIRED,
  NO_SESSION_FOR_MEMBERSHIP,
  PAYMENT_IS_SLOW,
} from '#core/sentences.ts';
import { BILLING_COUNTRIES } from '#core/specified.ts';
import { Alert, Note, scrollIntoView } from '#ui/Alert.tsx';
import { Button } from '#ui/Button.tsx';
import { Checkbox } from '#ui/Field.tsx';
import { Form } from '#ui/Form.tsx';
import { Icon } from '#ui/icons.tsx';
import { useFocusRescue } from '#ui/useFocusRescue.ts';
import { useForm } from '#ui/useForm.ts';
import { useSlow } from '#ui/useSlow.ts';
import { CardElements, onlyCardOptions } from '../../components/CardElements.tsx';
import { prefetch } from '../../lib/prefetch.ts';
import { storedSession } from '../../lib/session.ts';
import { useSite } from '../../lib/site.ts';
import { lazyScreens } from '../lazyScreens.tsx';
import { ExpressPay } from './ExpressPay.tsx';
import { type CheckoutDetails, type OrderProduct, type PaymentIntent, versionOf } from './order.ts';
import type { Payment as Paying, Wanted } from './payment.ts';
import { NOT_UPDATED } from './paymentWork.ts';
import styles from './styles.module.css';
import type { usePayment } from './usePayment.ts';

const GIVEN_ADDRESS = 'Filled in from your details.';
const POLICIES_REQUIRED = 'You must agree to the policies.';

interface Props {
  details: CheckoutDetails;
  /** Whether a billing address that is known in full is shown as text until the joiner presses Change. */
  foldsAddress: boolean;
  intent: PaymentIntent;
  order: OrderSummary<OrderProduct>;
  orderIsChanging: boolean;
  paying: ReturnType<typeof usePayment>;
}

export function Payment(props: Props) {
  const { revalidate } = useRevalidator();
  const [given] = useState(() => (props.foldsAddress ? inOneLine(props.details.billing) : null));
  return (
    <CardElements
      clientSecret={props.intent.clientSecret}
      placeholderClass={given === null ? styles.unloadedForm : styles.unloadedShortForm}
      // Stripe does not load a form for an intent that has ended. Loading the screen's data again leads to a redirect or a new
      // intent.
      onTryAgain={() => void revalidate()}
    >
      {(onLoadError) => <CardForm {...props} given={given} onLoadError={onLoadError} />}
    </CardElements>
  );
}

/** `given`: the billing address in one line, to be shown in place of its form; null if the form is open from the beginning. */
function CardForm({
  details,
  given,
  intent,
  order,
  orderIsChanging,
  paying,
  onLoadError,
}: Props & { given: string | null; onLoadError: (event: { error: unknown }) => void }) {
  const { payment, send, mount } = paying;
  const { society, checkout } = useSite();
  const stripe = useStripe();
  const elements = useElements();
  useEffect(() => (stripe && elements ? mount({ stripe, elements }) : undefined), [stripe, elements, mount]);
  const asksPolicies = details.hasAgreedToPolicies === false;
  const consents = useForm({ agreeToPolicies: false, hasGuardianConsent: false }, (ticked) => ({
    ...(asksPolicies && !ticked.agreeToPolicies && { agreeToPolicies: POLICIES_REQUIRED }),
    ...(details.guardianConsent &&
      !ticked.hasGuardianConsent && { hasGuardianConsent: GUARDIAN_CONSENT_REQUIRED }),
  }));
  const [ready, setReady] = useState({ address: false, card: false });
  // Prefetches the screens that come after the payment.
  const isReady = ready.address && ready.card;
  useEffect(() => {
    if (isReady) prefetch(lazyScreens.postPayment.load, lazyScreens.upgrade.load);
  }, [isReady]);
  // The form gets only the initial values. Later values would overwrite what the joiner has typed.
  const [addressOptions] = useState(() => billingOptions(details.billing));
  const [isRefused, setRefused] = useState(false);
  const [isChanging, setChanging] = useState(false);
  const isAddressOpen = given === null || isRefused || isChanging;
  const focusAddress = useCallback(() => elements?.getElement('address')?.focus(), [elements]);
  // Only a press of Change moves the focus into the form, not a form that opens because Stripe refuses the address.
  useFocusRescue(isChanging, focusAddress);
  const canBuy = stripe !== null && elements !== null && !orderIsChanging && payment.total === 'shown';

  /**
   * Returns the payment that a press of Buy Now asks for: null without a session, undefined if nothing can be paid yet. If a
   * required checkbox is not ticked, it gets the focus.
   */
  function want(isForAnother: boolean): Wanted | null | undefined {
    if (!canBuy || payment.stage !== 'ready') return undefined;
    const [missing] = Object.keys(consents.check());
    if (missing) {
      document.getElementById(missing)?.focus();
      send({ type: 'pressedTooSoon' });
      return undefined;
    }
    const uuid = storedSession();
    if (!uuid) console.error(NO_SESSION_FOR_MEMBERSHIP);
    const { agreeToPolicies, hasGuardianConsent } = consents.values;
    return uuid
      ? {
          uuid,
          revision: intent.revision ?? 0,
          agreeToPolicies: !asksPolicies || agreeToPolicies,
          hasGuardianConsent,
          isForAnother: isForAnother || payment.isForAnother,
        }
      : null;
  }
  function buy(isForAnother: boolean) {
    const wanted = want(isForAnother);
    if (wanted !== undefined) send({ type: 'pressed', wanted });
  }
  function openSheet(): boolean {
    const wanted = want(false);
    if (wanted === undefined) return false;
    return send({ type: 'walletPressed', wanted }).sheet === wanted && wanted !== null;
  }
  const checkbox = (name: keyof typeof consents.values) => ({
    id: name,
    name,
    checked: consents.values[name],
    onChange: ({ target }: ChangeEvent<HTMLInputElement>) => {
      consents.change({ [name]: target.checked });
      send({ type: 'consentsChanged' });
    },
    error: consents.errors[name],
    required: true,
  });
  const { membership, donations, storeProducts, totalDueTodayCents } = order;
  const lines = [...(membership ? [membership] : []), ...donations, ...storeProducts];
  const isByWallet = payment.form === 'wallet';
  const isSlow = useSlow(payment.stage !== 'ready');
  const slow = isSlow && <Note isAnswer>{PAYMENT_IS_SLOW}</Note>;

  return (
    <>
      {stripe && (
        <ExpressPay
          stripe={stripe}
          clientSecret={intent.clientSecret}
          lines={lines.map(({ name, priceCents }) => ({ name, amount: priceCents }))}
          version={versionOf(intent)}
          isPressable={canBuy}
          onPress={openSheet}
          paying={paying}
        >
          {isByWallet && slow}
          {isByWallet && <Answer answer={payment.answer} onYes={() => send({ type: 'saidForAnother' })} />}
        </ExpressPay>
      )}
      <Form onSubmit={() => buy(false)}>
        <section className={styles.block} aria-labelledby="billing">
          <h2 id="billing">Billing address</h2>
          <p className={styles.intro}>
            {details.billing?.line1 && <span>{GIVEN_ADDRESS} </span>}
            <span>{CARDS_ACCEPTED}</span>
          </p>
          {!isAddressOpen && (
            <p className={styles.givenAddress}>
              <span>{given}</span>
              <Button variant="plain" aria-label="Change billing address" onClick={() => setChanging(true)}>
                Change
              </Button>
            </p>
          )}
          {/* The form is mounted even while it is folded: Stripe takes the address from it. */}
          <div className={styles.address} data-ready={ready.address || undefined} inert={!isAddressOpen}>
            <AddressElement
              options={addressOptions}
              onLoadError={onLoadError}
              onReady={async (address) => {
                setReady((now) => ({ ...now, address: true }));
                // If Stripe does not accept the address as it is, the joiner has to see the form.
                const { complete } = await address.getValue().catch(() => ({ complete: false }));
                if (!complete) setRefused(true);
              }}
            />
          </div>
        </section>
        <section className={styles.block} aria-labelledby="card">
          <div className={styles.cardHead}>
            <h2 id="card">Card</h2>
            {details.revision !== undefined && <a href="#ask">No card of your own?</a>}
          </div>
          <div className={styles.element} data-ready={ready.card || undefined}>
            <PaymentElement
              options={onlyCardOptions}
              onLoadError={onLoadError}
              onReady={() => setReady((now) => ({ ...now, card: true }))}
            />
          </div>
        </section>
        <div className={styles.buy}>
          {asksPolicies && (
            <Checkbox
              {...checkbox('agreeToPolicies')}
              label={
                <>
                  I agree to the policies (<a href={society.links.privacy}>privacy</a>,{' '}
                  <a href={society.links.refunds}>refunds</a>)
                </>
              }
            />
          )}
          {details.guardianConsent && (
            <Checkbox {...checkbox('hasGuardianConsent')} label={details.guardianConsent} />
          )}
          {details.nameProblem && (
            <Note>
              <span>{details.nameProblem}</span>
              {!details.isCheckoutOnly && (
                <span>
                  {' '}
                  Or <Link to={screens.studentDetails}>change it in Student Details</Link>.
                </span>
              )}
            </Note>
          )}
          <div className={styles.due}>
            <p data-keep-clear>
              <strong>{`Total ${displayPrice(totalDueTodayCents)} USD`}</strong>
              {details.billingEmail && <span>{` · Receipt to ${details.billingEmail}`}</span>}
            </p>
            {society.statementName && <p>{`Your statement will say ${society.statementName}`}</p>}
          </div>
          <Button type="submit" full disabled={!canBuy} busy={payment.stage !== 'ready' && 'Processing…'}>
            Buy Now
          </Button>
          {payment.total === 'failed' && (
            <>
              <Alert>{NOT_UPDATED}</Alert>
              <Button variant="second" full onClick={() => send({ type: 'updatePressed' })}>
                Try again
              </Button>
            </>
          )}
          {!isByWallet && slow}
          {!isByWallet && <Answer answer={payment.answer} onYes={() => buy(true)} />}
          <p className={styles.small}>
            <Icon name="leaf" size={16} />
            {checkout.carbonNote}
          </p>
          <p className={styles.small}>
            <Icon name="lock" size={16} />
            <span>
              Payments by Stripe: <a href="https://stripe.com/legal/end-users">Terms</a>,{' '}
              <a href="https://stripe.com/privacy">Privacy</a>
            </span>
          </p>
        </div>
      </Form>
    </>
  );
}

function Answer({ answer, onYes }: { answer: Paying['answer']; onYes: () => void }) {
  if (answer?.kind === 'changed') return <Note isAnswer>{answer.text}</Note>;
  if (answer?.kind === 'error') return <Alert isAnswer>{answer.text}</Alert>;
  return (
    answer && (
      <div ref={scrollIntoView} className={styles.question}>
        <Note>{answer.text} Nothing was charged yet.</Note>
        <Button variant="second" full onClick={onYes}>
          Yes, pay for someone else
        </Button>
      </div>
    )
  );
}

/** Returns a billing address in one line; null if a part is unknown. */
function inOneLine(billing: CheckoutDetails['billing']): string | null {
  const { name, line1, line2, city, state, postalCode } = billing ?? {};
  if (!name || !line1 || !city || !state || !postalCode) return null;
  return [name, line1, line2, city, `${state} ${postalCode}`].filter(Boolean).join(', ');
}

/** Returns the options of the address form. It offers only the United States and Canada (specification, section 5). */
function billingOptions(known: CheckoutDetails['billing']) {
  const options = { mode: 'billing' as const, allowedCountries: BILLING_COUNTRIES };
  if (!known) return options;
  const { name, line1, line2, city, state, postalCode, country } = known;
  return {
    ...options,
    defaultValues: { name, address: { line1, line2, city, state, postal_code: postalCode, country } },
  };
}
