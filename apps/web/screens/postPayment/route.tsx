import { useEffect, useState } from 'react';
import { Link, type LoaderFunctionArgs, useLoaderData, useNavigate } from 'react-router';
import type { Data } from '#contract/schemas.ts';
import { displayPrice } from '#core/money.ts';
import { screens } from '#core/navigation.ts';
import { Note } from '../../components/Alert.tsx';
import cardStyles from '../../components/Card.module.css';
import { Card } from '../../components/Card.tsx';
import { PageHeading } from '../../components/PageHeading.tsx';
import { loadCleaner } from '../../components/Purified.tsx';
import { StartOver } from '../../components/StartOver.tsx';
import { TryAgain } from '../../components/TryAgain.tsx';
import ui from '../../components/ui.module.css';
import { ApiError, call, type RetryMs, requireSession, retryMsOf } from '../../lib/api.ts';
import { prefetch } from '../../lib/prefetch.ts';
import { drop, keep, recall, returnFromPaying } from '../../lib/session.ts';
import { useSite } from '../../lib/site.ts';
import { lazyScreens } from '../lazyScreens.tsx';

type Settled = Data<'postPayment'>;

/** How the payment ended could not be learned. Without `retryMs` there is nothing to ask about. */
interface Unknown {
  retryMs: RetryMs | undefined;
  /** The look that failed; another one is under way while the screen counts more. */
  looks?: number;
}

const NOT_KNOWN =
  'We could not see yet how your payment ended. Nothing is charged twice: if it went through, Checkout will say so.';
const NOT_COMPLETED = 'Your payment was not completed, and nothing was charged.';

/** What the card provider adds to the return address. */
interface Return {
  paymentIntent: string;
  paymentIntentClientSecret: string;
  redirectStatus: string;
}

/**
 * The three values leave the address and the history at once, since one of them is a secret; until the payment is
 * settled the tab keeps them, so that a reload loses nothing.
 */
export function loader({ request }: LoaderFunctionArgs): { uuid: string; returned: Return | null } {
  returnFromPaying();
  const uuid = requireSession();
  const query = new URL(request.url).searchParams;
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

/** Between two questions while the provider is still at work, in milliseconds; the last one repeats. */
const WAITS = [1000, 2000, 3000, 5000, 8000, 13_000];

/** Asks until the payment is settled, and answers how; null when the page was left. */
async function settle(uuid: string, body: Return, gone: AbortSignal): Promise<Settled | null> {
  for (let asked = 0; !gone.aborted; asked++) {
    const settled = await call('postPayment', { params: { uuid }, body, quiet: true });
    if (settled.status !== 'processing') return settled;
    const wait = WAITS[Math.min(asked, WAITS.length - 1)];
    await new Promise((resolve) => setTimeout(resolve, wait));
  }
  return null;
}

export function Component() {
  const { uuid, returned } = useLoaderData<typeof loader>();
  const navigate = useNavigate();
  const [ended, setEnded] = useState<Unknown | Settled | null>(null);
  const [looks, setLooks] = useState(0);

  useEffect(() => {
    if (!returned) {
      console.error('The payment return misses its parameters.');
      setEnded({ retryMs: undefined });
      return;
    }
    prefetch(lazyScreens.upgrade.load, loadCleaner);
    const leaving = new AbortController();
    const { signal } = leaving;
    settle(uuid, returned, signal).then(
      async (settled) => {
        if (signal.aborted || !settled) return;
        // One that went back is told again when the page is loaded again.
        if (settled.status === 'refunded') return setEnded(settled);
        drop('joinReturn');
        if (settled.status !== 'succeeded') {
          console.error(`The payment was not completed: ${settled.status}`);
          return setEnded(settled);
        }
        drop('joinDraft');
        const query = new URLSearchParams({ payment_intent: returned.paymentIntent });
        await navigate(`${screens.upgrade}?${query}`, { replace: true });
      },
      (error: unknown) => {
        console.error(error);
        // A server that did not answer, or not as it should, may do so later.
        const isRefused = error instanceof ApiError && error.status < 500;
        if (!signal.aborted) setEnded({ retryMs: isRefused ? null : (retryMsOf(error) ?? 0), looks });
      },
    );
    return () => leaving.abort();
  }, [uuid, returned, navigate, looks]);

  const settled = ended && 'status' in ended ? ended : null;
  const unknown = ended && !('status' in ended) ? ended : null;
  if (settled?.refunded) return <Refunded payment={settled.refunded} goOn={settled.goOn} />;
  return (
    <Card>
      <PageHeading title="Payment" />
      {settled ? (
        <div key="settled" className={ui.stack}>
          {(settled.goOn ?? screens.checkout) === screens.checkout && <Note>{NOT_COMPLETED}</Note>}
          <Onward goOn={settled.goOn ?? screens.checkout} />
        </div>
      ) : unknown ? (
        <div key="unknown" className={ui.stack}>
          <Note>{NOT_KNOWN}</Note>
          {unknown.retryMs !== undefined && (
            <TryAgain
              message={null}
              retryMs={unknown.retryMs}
              again={() => setLooks(looks + 1)}
              busy={unknown.looks !== looks}
            />
          )}
          <Onward goOn={screens.checkout} />
        </div>
      ) : (
        <div className={cardStyles.loader}>
          <div className={cardStyles.waiting} role="status" data-waiting>
            <span className={cardStyles.spinner} />
            <p>Confirming your payment…</p>
          </div>
        </div>
      )}
    </Card>
  );
}

/** A payment for what is held already: its payer learns that nothing was lost. */
function Refunded({
  payment: { kind, amount, card, isReturned },
  goOn,
}: {
  payment: NonNullable<Settled['refunded']>;
  goOn: string | null;
}) {
  const { society } = useSite();
  const isMember = goOn !== null && goOn !== screens.checkout;
  return (
    <Card>
      <PageHeading title="Payment refunded" takesFocus />
      <div className={ui.stack}>
        <Note>
          {kind === 'join'
            ? `This membership had already been paid for${isMember ? '' : ' by another join'}, so nothing more is to be paid.`
            : 'This upgrade could not be sold any more, so nothing is to be paid for it.'}
        </Note>
        <p>
          Your payment of <strong>{displayPrice(amount)}</strong>{' '}
          {isReturned ? 'was returned in full' : 'is being returned in full'}
          {card && (
            <>
              {' '}
              to{' '}
              <strong>
                {card.brand} ending {card.last4}
              </strong>
            </>
          )}
          . It usually takes 5 to 10 business days to show on your statement.
        </p>
        <p>
          Is something not right? Write to{' '}
          <a href={`mailto:${society.supportEmail}`}>{society.supportEmail}</a>.
        </p>
        {isMember ? <Onward goOn={goOn} /> : <StartOver />}
      </div>
    </Card>
  );
}

function Onward({ goOn }: { goOn: string }) {
  return (
    <Link className={ui.button} to={goOn}>
      {goOn === screens.checkout ? 'Return to Checkout' : 'Continue'}
    </Link>
  );
}
