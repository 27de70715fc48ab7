import { useEffect, useState } from 'react';
import { Link, type LoaderFunctionArgs, useLoaderData, useNavigate } from 'react-router';
import { ApiError, type RetryMs, retryMsOf } from '#client/failures.ts';
import type { Answered } from '#contract/schemas.ts';
import { linkQuery } from '#core/linkQuery.ts';
import { displayPrice } from '#core/money.ts';
import { screens } from '#core/navigation.ts';
import { BANK_DECIDES, OUTCOME_UNKNOWN } from '#core/sentences.ts';
import { Note } from '../../components/Alert.tsx';
import cardStyles from '../../components/Card.module.css';
import { Card } from '../../components/Card.tsx';
import { PageHeading } from '../../components/PageHeading.tsx';
import { loadCleaner } from '../../components/Purified.tsx';
import { StartOver } from '../../components/StartOver.tsx';
import { TryAgain } from '../../components/TryAgain.tsx';
import ui from '../../components/ui.module.css';
import { call, requireSession } from '../../lib/api.ts';
import { poll } from '../../lib/poll.ts';
import { prefetch } from '../../lib/prefetch.ts';
import { drop, keep, recall } from '../../lib/session.ts';
import { useSite } from '../../lib/site.ts';
import { lazyScreens } from '../lazyScreens.tsx';

type Settled = Answered<'postPayment'> & { status: string };

/**
 * The state in which the payment's outcome is not known, or not yet. `retryMs` is undefined if the URL lacks Stripe's return
 * parameters; no retry is then offered.
 */
interface Unknown {
  message: string;
  retryMs: RetryMs | undefined;
  /**
   * The number of the failed check of the payment. If the component's state `checks`, the number of the latest check, is higher,
   * a newer check is still running.
   */
  checks?: number;
}

const NOT_COMPLETED = 'Your payment was not completed, and nothing was charged.';

/** The parameters that the card provider adds to the return URL. */
interface Return {
  paymentIntent: string;
  paymentIntentClientSecret: string;
  redirectStatus: string;
}

/**
 * Removes Stripe's three return parameters from the URL and the history, because one of them is a secret. Until the payment is
 * settled, session storage keeps them for a reload.
 */
export function loader({ request }: LoaderFunctionArgs): { uuid: string; returned: Return | null } {
  const uuid = requireSession();
  const query = linkQuery(request.url);
  const paymentIntent = query.get('payment_intent');
  const paymentIntentClientSecret = query.get('payment_intent_client_secret');
  const redirectStatus = query.get('redirect_status');
  if (paymentIntent && paymentIntentClientSecret && redirectStatus) {
    keep('joinReturn', { paymentIntent, paymentIntentClientSecret, redirectStatus } satisfies Return);
  }
  if (window.location.search !== '') {
    window.history.replaceState(window.history.state, '', window.location.pathname);
  }
  return { uuid, returned: recall<Return>('joinReturn') };
}

/** The delays (ms) between polls while the payment is processing: a minute and a half. */
const POLL_DELAYS_MS = [1000, 2000, 3000, 5000, 8000, 13_000, 20_000, 20_000, 20_000];
/** After this many polls, the page says why it waits. */
const POLLS_IN_SILENCE = 3;

export function Component() {
  const { uuid, returned } = useLoaderData<typeof loader>();
  const navigate = useNavigate();
  const [ended, setEnded] = useState<Unknown | Settled | null>(null);
  const [checks, setChecks] = useState(0);
  const [isSlow, setSlow] = useState(false);

  useEffect(() => {
    if (!returned) {
      console.error('The payment return misses its parameters.');
      setEnded({ message: OUTCOME_UNKNOWN, retryMs: undefined });
      return;
    }
    prefetch(lazyScreens.upgrade.load, loadCleaner);
    const leaving = new AbortController();
    const { signal } = leaving;
    poll(
      (tries) => {
        setSlow(tries >= POLLS_IN_SILENCE);
        return call('postPayment', { params: { uuid }, body: returned, quiet: true });
      },
      ({ status }) => status !== 'processing',
      (tries) => POLL_DELAYS_MS[tries],
      { signal, page: document },
    ).then(
      // An answer without a status says that the payment has succeeded (specification, section 2).
      async ({ status = 'succeeded', ...settled }) => {
        if (signal.aborted) return;
        if (status === 'processing') return setEnded({ message: BANK_DECIDES, retryMs: 0, checks });
        // The return parameters of a refunded payment stay stored, so that a reload shows the refund again.
        if (status === 'refunded') return setEnded({ status, ...settled });
        drop('joinReturn');
        if (status !== 'succeeded') {
          console.error(`The payment was not completed: ${status}`);
          return setEnded({ status, ...settled });
        }
        drop('joinDraft');
        const query = new URLSearchParams({ payment_intent: returned.paymentIntent });
        await navigate(`${screens.upgrade}?${query}`, { replace: true });
      },
      (error: unknown) => {
        console.error(error);
        // A retry may succeed if there was no response, or if its status was 500 or above.
        const isRefused = error instanceof ApiError && error.status < 500;
        const retryMs = isRefused ? null : (retryMsOf(error) ?? 0);
        if (!signal.aborted) setEnded({ message: OUTCOME_UNKNOWN, retryMs, checks });
      },
    );
    return () => leaving.abort();
  }, [uuid, returned, navigate, checks]);

  const settled = ended && 'status' in ended ? ended : null;
  const unknown = ended && !('status' in ended) ? ended : null;
  if (settled?.refunded) return <Refunded payment={settled.refunded} goOn={settled.goOn ?? null} />;
  return (
    <Card>
      <PageHeading title="Payment" />
      {settled ? (
        <div key="settled" className={ui.stack}>
          {(settled.goOn ?? screens.checkout) === screens.checkout && <Note>{NOT_COMPLETED}</Note>}
          <ContinueLink goOn={settled.goOn ?? screens.checkout} />
        </div>
      ) : unknown ? (
        <div key="unknown" className={ui.stack}>
          <Note>{unknown.message}</Note>
          {unknown.retryMs !== undefined && (
            <TryAgain
              retryMs={unknown.retryMs}
              onTry={() => setChecks(checks + 1)}
              busy={unknown.checks !== checks}
            />
          )}
          <ContinueLink goOn={screens.checkout} />
        </div>
      ) : (
        <div className={cardStyles.loader}>
          <div className={cardStyles.centred} role="status" data-waiting>
            <span className={cardStyles.spinner} />
            <p>
              {isSlow
                ? 'Your bank is still deciding on this payment. This page goes on by itself…'
                : 'Confirming your payment…'}
            </p>
          </div>
        </div>
      )}
    </Card>
  );
}

/** Shown for a payment that bought nothing and is refunded. */
function Refunded({
  payment: { kind, why, amount, card, isReturned, isWithStaff },
  goOn,
}: {
  payment: NonNullable<Settled['refunded']>;
  goOn: string | null;
}) {
  const { society } = useSite();
  const isMember = goOn !== null && goOn !== screens.checkout;
  return (
    <Card>
      <PageHeading title={isWithStaff ? 'Payment received' : 'Payment refunded'} takesFocus />
      <div className={ui.stack}>
        <Note>
          {why === 'other_amount'
            ? 'This was not the amount of your order, so nothing was bought with it. You can pay your order again.'
            : kind === 'join'
              ? `This membership had already been paid for${isMember ? '' : ' by another join'}, so nothing more is to be paid.`
              : 'This upgrade could not be sold any more, so nothing is to be paid for it.'}
        </Note>
        <p>
          Your payment of <strong>{displayPrice(amount)}</strong>{' '}
          {isWithStaff
            ? 'has not been returned yet'
            : isReturned
              ? 'was returned in full'
              : 'is being returned in full'}
          {card && (
            <>
              {' '}
              to{' '}
              <strong>
                {card.brand} ending {card.last4}
              </strong>
            </>
          )}
          {isWithStaff
            ? '. We look into it and write to you.'
            : '. It usually takes 5 to 10 business days to show on your statement.'}
        </p>
        <p>
          Is something not right? Write to{' '}
          <a href={`mailto:${society.supportEmail}`}>{society.supportEmail}</a>.
        </p>
        {isMember ? <ContinueLink goOn={goOn} /> : <StartOver />}
      </div>
    </Card>
  );
}

function ContinueLink({ goOn }: { goOn: string }) {
  return (
    <Link className={ui.button} to={goOn}>
      {goOn === screens.checkout ? 'Return to Checkout' : 'Continue'}
    </Link>
  );
}
