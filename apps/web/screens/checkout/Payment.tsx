import { AddressElement, PaymentElement, useElements, useStripe } from '@stripe/react-stripe-js';
import { useCallback, useEffect, useRef, useState } from 'react';
import { Link, useNavigate, useRevalidator } from 'react-router';
import { ApiError, ifOffered, messageOf } from '#client/failures.ts';
import { within } from '#client/within.ts';
import { PAYMENT_UNDER_WAY } from '#core/joinSession.ts';
import { displayPrice } from '#core/money.ts';
import { screens } from '#core/navigation.ts';
import {
  CARDS_ACCEPTED,
  fallback,
  GUARDIAN_CONSENT_REQUIRED,
  NO_SESSION_FOR_MEMBERSHIP,
  OUTCOME_UNKNOWN,
} from '#core/sentences.ts';
import { Alert, Note, scrollIntoView } from '#ui/Alert.tsx';
import { Button } from '#ui/Button.tsx';
import { Checkbox } from '#ui/Field.tsx';
import { Icon } from '#ui/icons.tsx';
import { CardElements } from '../../components/CardElements.tsx';
import { cardOptions } from '../../components/cardOptions.ts';
import { call } from '../../lib/api.ts';
import { prefetch } from '../../lib/prefetch.ts';
import { storedSession } from '../../lib/session.ts';
import { useSite } from '../../lib/site.ts';
import { lazyScreens } from '../lazyScreens.tsx';
import type { CheckoutDetails, PaymentIntent } from './order.ts';
import styles from './styles.module.css';

const NOT_UPDATED =
  'The card form could not be told of your new total, so it cannot be paid yet. Nothing was charged. Please check your connection.';
const POLICIES_REQUIRED = 'You must agree to the policies.';

type Missing = Partial<Record<'agreeToPolicies' | 'hasGuardianConsent', string>>;

interface Props {
  details: CheckoutDetails;
  intent: PaymentIntent;
  totalCents: number;
  orderIsChanging: boolean;
  /** Whether a payment is being made; false again if it has failed. */
  processing: boolean;
  setProcessing: (processing: boolean) => void;
}

export function Payment(props: Props) {
  const { revalidate } = useRevalidator();
  return (
    <CardElements
      clientSecret={props.intent.clientSecret}
      placeholderClass={styles.unloadedForm}
      // Stripe loads no form for an intent that has ended. Loading the screen's data again leads to a redirect or a new intent.
      onTryAgain={() => void revalidate()}
    >
      {(onLoadError) => <CardForm {...props} onLoadError={onLoadError} />}
    </CardElements>
  );
}

function CardForm({
  details,
  intent,
  totalCents,
  orderIsChanging,
  processing,
  setProcessing,
  onLoadError,
}: Props & { onLoadError: (event: { error: unknown }) => void }) {
  const { society, checkout } = useSite();
  const stripe = useStripe();
  const elements = useElements();
  const navigate = useNavigate();
  const { revalidate } = useRevalidator();
  /** Not null while the card form still has the order's old total. A wallet would then show the joiner that total. */
  const [outdated, setOutdated] = useState<'updating' | 'failed' | null>(null);
  const [error, setError] = useState<string | null>(null);
  const [changed, setChanged] = useState<string | null>(null);
  const [question, setQuestion] = useState<string | null>(null);
  const asksPolicies = details.hasAgreedToPolicies === false;
  const [agreed, setAgreed] = useState(false);
  const [hasGuardianConsent, setHasGuardianConsent] = useState(false);
  /** The errors about checkboxes that must still be ticked, by checkbox name. */
  const [missing, setMissing] = useState<Missing>({});
  const [ready, setReady] = useState({ address: false, card: false });
  const isWorking = useRef(false);
  /** Whether the last payment may have succeeded: neither the provider nor the server has said how it ended. */
  const mayBePaid = useRef(false);
  // Prefetches the screens that come after the payment.
  const isReady = ready.address && ready.card;
  useEffect(() => {
    if (isReady) prefetch(lazyScreens.postPayment.load, lazyScreens.upgrade.load);
  }, [isReady]);

  // The intent keeps its client secret when the total changes: the form fetches the new total and keeps its input.
  // Without revisions the total says whether the order has changed.
  const version = intent.revision ?? intent.amount;
  const shownVersion = useRef(version);
  const fetchUpdates = useCallback(async () => {
    if (!elements) return;
    const begun = shownVersion.current;
    setOutdated('updating');
    const failure = await within(() => elements.fetchUpdates()).then(
      ({ error: refused }) => refused,
      (cause: unknown) => cause,
    );
    // The order has changed again meanwhile, and fetching the newer total is under way.
    if (begun !== shownVersion.current) return;
    if (failure) console.error(NOT_UPDATED, failure);
    setOutdated(failure ? 'failed' : null);
  }, [elements]);
  useEffect(() => {
    if (!elements || shownVersion.current === version) return;
    shownVersion.current = version;
    void fetchUpdates();
  }, [elements, version, fetchUpdates]);

  // When the browser goes back from the card provider's page, it may restore this page as it was left (bfcache). In that case the
  // form is enabled again.
  useEffect(() => {
    const shown = (event: PageTransitionEvent) => {
      if (!event.persisted) return;
      isWorking.current = false;
      setProcessing(false);
      void revalidate();
    };
    window.addEventListener('pageshow', shown);
    return () => window.removeEventListener('pageshow', shown);
  }, [revalidate, setProcessing]);

  // The form gets only the initial values. Later values would overwrite the joiner's input.
  const [addressOptions] = useState(() => billingOptions(details.billing));

  async function buy({ isForAnother = false } = {}) {
    if (isWorking.current || !stripe || !elements || orderIsChanging || outdated) return;
    setError(null);
    setChanged(null);
    setQuestion(null);
    const found: Missing = {
      ...(asksPolicies && !agreed && { agreeToPolicies: POLICIES_REQUIRED }),
      ...(details.guardianConsent &&
        !hasGuardianConsent && { hasGuardianConsent: GUARDIAN_CONSENT_REQUIRED }),
    };
    setMissing(found);
    const [first] = Object.keys(found);
    if (first) {
      document.getElementById(first)?.focus();
      return;
    }
    const uuid = storedSession();
    if (!uuid) {
      console.error(NO_SESSION_FOR_MEMBERSHIP);
      setError(NO_SESSION_FOR_MEMBERSHIP);
      return;
    }
    isWorking.current = true;
    setProcessing(true);
    const leaving = await pay(uuid, isForAnother);
    if (leaving) return;
    isWorking.current = false;
    setProcessing(false);
  }

  /** Pays the order. Returns whether the browser is leaving the page, in which case the button stays busy. */
  async function pay(uuid: string, isForAnother: boolean): Promise<boolean> {
    if (!stripe || !elements) return false;
    const checked = await elements.submit();
    if (checked.error) {
      setError(checked.error.message ?? fallback.payment);
      return false;
    }
    try {
      const begun = call('beginPayment', {
        params: { uuid },
        body: {
          revision: intent.revision ?? 0,
          agreeToPolicies: !asksPolicies || agreed,
          hasGuardianConsent,
          isForAnother,
        },
        quiet: 'perhaps_paid',
      });
      // A server without this call charges the amount of its last intent, which is the total on the screen.
      await ifOffered(begun, null);
    } catch (refused) {
      if (refused instanceof ApiError && refused.code === 'perhaps_paid') setQuestion(refused.message);
      else if (refused instanceof ApiError && refused.status === 409) {
        setChanged(messageOf(refused, 'Your order has changed.'));
        await revalidate();
      } else {
        setError(mayBePaid.current ? OUTCOME_UNKNOWN : messageOf(refused, fallback.payment));
        // The programme began to ask for guardian consent after the page was loaded, so the consent's sentence has to be loaded.
        if (refused instanceof ApiError && refused.errors.hasGuardianConsent) await revalidate();
      }
      return false;
    }
    try {
      const { error: refused } = await stripe.confirmPayment({
        elements,
        confirmParams: { return_url: window.location.origin + screens.postPayment },
      });
      const isOver = refused.type === 'card_error' || refused.type === 'validation_error';
      return await release(uuid, refused.message ?? fallback.payment, isOver);
    } catch (cause) {
      console.error(cause);
      return await release(uuid, fallback.payment, false);
    }
  }

  /**
   * Called when the payment seems to have failed. The server asks the provider for the outcome, and unfreezes the order if the
   * payment has failed. `isOver`: the provider itself says that nothing was charged. Otherwise that is not known as long as the
   * server does not answer.
   */
  async function release(uuid: string, sentence: string, isOver: boolean): Promise<boolean> {
    try {
      const { state, goOn } = await call('releasePayment', { params: { uuid }, body: {} });
      if (state === 'paid') {
        await navigate(goOn, { replace: true });
        return true;
      }
      mayBePaid.current = state === 'paying';
      setError(mayBePaid.current ? PAYMENT_UNDER_WAY : sentence);
    } catch {
      mayBePaid.current = !isOver;
      setError(isOver ? sentence : OUTCOME_UNKNOWN);
    }
    return false;
  }

  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        void buy();
      }}
    >
      <section className={styles.block} aria-labelledby="billing">
        <h2 id="billing">Billing address</h2>
        <p className={styles.intro}>{CARDS_ACCEPTED}</p>
        <div className={styles.address} data-ready={ready.address || undefined}>
          <AddressElement
            options={addressOptions}
            onLoadError={onLoadError}
            onReady={() => setReady((now) => ({ ...now, address: true }))}
          />
        </div>
      </section>
      <section className={styles.block} aria-labelledby="card">
        <h2 id="card">Card</h2>
        <div className={styles.element} data-ready={ready.card || undefined}>
          <PaymentElement
            options={cardOptions}
            onLoadError={onLoadError}
            onReady={() => setReady((now) => ({ ...now, card: true }))}
          />
        </div>
      </section>
      <div className={styles.buy}>
        {asksPolicies && (
          <Checkbox
            id="agreeToPolicies"
            name="agreeToPolicies"
            label={
              <>
                I agree to the policies (<a href={society.links.privacy}>privacy</a>,{' '}
                <a href={society.links.refunds}>refunds</a>)
              </>
            }
            checked={agreed}
            onChange={(event) => {
              setAgreed(event.target.checked);
              setMissing(({ agreeToPolicies: _, ...others }) => others);
            }}
            error={missing.agreeToPolicies}
            required
          />
        )}
        {details.guardianConsent && (
          <Checkbox
            id="hasGuardianConsent"
            name="hasGuardianConsent"
            label={details.guardianConsent}
            checked={hasGuardianConsent}
            onChange={(event) => {
              setHasGuardianConsent(event.target.checked);
              setMissing(({ hasGuardianConsent: _, ...others }) => others);
            }}
            error={missing.hasGuardianConsent}
            required
          />
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
          <p data-keep-clear>{`Total: ${displayPrice(totalCents)} USD`}</p>
          {details.billingEmail && <p>{`Receipt to ${details.billingEmail}`}</p>}
        </div>
        <Button
          type="submit"
          full
          disabled={!stripe || !elements || orderIsChanging || outdated !== null}
          busy={processing && 'Processing…'}
        >
          Buy Now
        </Button>
        {outdated === 'failed' && (
          <>
            <Alert>{NOT_UPDATED}</Alert>
            <Button variant="second" full onClick={() => void fetchUpdates()}>
              Try again
            </Button>
          </>
        )}
        {question && (
          <div ref={scrollIntoView} className={styles.question}>
            <Note>{question} Nothing was charged yet.</Note>
            <Button variant="second" full onClick={() => void buy({ isForAnother: true })}>
              Yes, pay for somebody else
            </Button>
          </div>
        )}
        {changed && <Note isAnswer>{changed}</Note>}
        {error && <Alert isAnswer>{error}</Alert>}
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
    </form>
  );
}

/** Returns the options of the address form. It offers only the United States and Canada (specification, section 5). */
function billingOptions(known: CheckoutDetails['billing']) {
  const options = { mode: 'billing' as const, allowedCountries: ['US', 'CA'] };
  if (!known) return options;
  const { name, line1, line2, city, state, postalCode, country } = known;
  return {
    ...options,
    defaultValues: { name, address: { line1, line2, city, state, postal_code: postalCode, country } },
  };
}
