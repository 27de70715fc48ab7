import { useEffect, useState } from 'react';
import { type LoaderFunctionArgs, useLoaderData, useNavigate } from 'react-router';
import { screens } from '#core/navigation.ts';
import { call, requireSession } from '../api.ts';
import cardStyles from '../components/Card.module.css';
import { Card } from '../components/Card.tsx';
import { Link } from '../components/Link.tsx';
import { PageHeading } from '../components/PageHeading.tsx';
import ui from '../components/ui.module.css';
import { drop, keep, recall } from '../session.ts';

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

/** Asks until the payment is settled: whether it succeeded. */
async function settle(uuid: string, body: Return, gone: AbortSignal): Promise<boolean> {
  for (let asked = 0; !gone.aborted; asked++) {
    const { status } = await call('postPayment', { params: { uuid }, body, quiet: true });
    if (status === 'succeeded') return true;
    if (status !== 'processing') {
      console.error(`The payment was not completed: ${status}`);
      return false;
    }
    const wait = WAITS[Math.min(asked, WAITS.length - 1)];
    await new Promise((resolve) => setTimeout(resolve, wait));
  }
  return false;
}

export function Component() {
  const { uuid, returned } = useLoaderData<typeof loader>();
  const navigate = useNavigate();
  const [ended, setEnded] = useState(false);

  useEffect(() => {
    if (!returned) {
      console.error('The payment return misses its parameters.');
      setEnded(true);
      return;
    }
    const leaving = new AbortController();
    const { signal } = leaving;
    settle(uuid, returned, signal).then(
      async (succeeded) => {
        if (signal.aborted) return;
        drop('joinReturn');
        if (!succeeded) return setEnded(true);
        drop('joinDraft');
        const query = new URLSearchParams({ payment_intent: returned.paymentIntent });
        await navigate(`${screens.upgrade}?${query}`, { replace: true });
      },
      (error: unknown) => {
        console.error(error);
        if (!signal.aborted) setEnded(true);
      },
    );
    return () => leaving.abort();
  }, [uuid, returned, navigate]);

  return (
    <Card>
      <PageHeading title="Payment" />
      <div className={cardStyles.loader}>
        {!ended && (
          <div className={cardStyles.waiting} role="status">
            <span className={cardStyles.spinner} />
            <p>Confirming your payment…</p>
          </div>
        )}
        {ended && (
          <Link className={ui.plain} to={screens.checkout}>
            Return to Checkout
          </Link>
        )}
      </div>
    </Card>
  );
}
