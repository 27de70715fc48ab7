import { useEffect, useState } from 'react';
import {
  type ActionFunctionArgs,
  Link,
  redirect,
  type ShouldRevalidateFunctionArgs,
  useFetchers,
  useLoaderData,
  useRevalidator,
} from 'react-router';
import { displayPrice } from '#core/money.ts';
import { screens } from '#core/navigation.ts';
import { fallback, NO_SESSION_FOR_MEMBERSHIP } from '#core/sentences.ts';
import { Alert } from '../../components/Alert.tsx';
import { Icon } from '../../components/allIcons.tsx';
import { GoOn } from '../../components/GoOn.tsx';
import { Lost } from '../../components/Lost.tsx';
import { PageHeading } from '../../components/PageHeading.tsx';
import { PageLoader } from '../../components/PageLoader.tsx';
import { ProgressBar } from '../../components/ProgressBar.tsx';
import { StartOver } from '../../components/StartOver.tsx';
import { LoadAgainPage } from '../../components/TryAgain.tsx';
import ui from '../../components/ui.module.css';
import { call, messageOf, type Outcome, requireSession } from '../../lib/api.ts';
import { useArrived } from '../../lib/arrived.ts';
import { loadPayments } from '../../lib/payments.ts';
import { storedSession } from '../../lib/session.ts';
import { theSite } from '../../lib/site.ts';
import { Donations } from './Donations.tsx';
import { OrderPanel } from './OrderPanel.tsx';
import { type Checkout, loadCheckout, stillRecommended } from './order.ts';
import type { OrderChange } from './orderChange.ts';
import { Payment } from './Payment.tsx';
import { Recommended } from './Recommended.tsx';
import styles from './styles.module.css';
import { Unseen } from './Unseen.tsx';

/** The screen stands: from now on what was typed into it must not be covered by a loader. */
let standing = false;

export async function loader() {
  const uuid = requireSession();
  loadPayments(theSite().payments).catch(() => {
    // The payment form says so and offers another try.
  });
  const loading = loadCheckout(uuid);
  if (!standing) return { checkout: loading };
  const outcome = await loading;
  if ('goOn' in outcome) throw redirect(outcome.goOn);
  return { checkout: outcome };
}

interface Changed {
  error: string | null;
  /** The stored session is gone; the order stays on the screen as it is (specification, section 8). */
  noSession?: true;
}

export function shouldRevalidate({
  actionResult,
  defaultShouldRevalidate,
}: ShouldRevalidateFunctionArgs): boolean {
  return (actionResult as Changed | undefined)?.noSession ? false : defaultShouldRevalidate;
}

/** Every change of the order; the loader then reads the new one. */
export async function action({ request }: ActionFunctionArgs): Promise<Changed> {
  const change = (await request.json()) as OrderChange;
  const uuid = storedSession();
  if (!uuid) {
    console.error(NO_SESSION_FOR_MEMBERSHIP);
    return { error: null, noSession: true };
  }
  try {
    switch (change.kind) {
      case 'addDonation':
      case 'addProduct':
        await call('setSessionProduct', { params: { uuid }, body: { productUuid: change.productUuid } });
        break;
      case 'addCustomDonation':
        await call('setCustomDonation', { params: { uuid }, body: { amount: change.amount } });
        break;
      case 'removeDonation':
      case 'removeProduct': {
        const { sessionProductUuid } = change;
        const { status } = await call('deleteSessionProduct', { params: { sessionProductUuid }, body: {} });
        if ((status as string) !== 'success') return { error: sentences[change.kind] };
      }
    }
    return { error: null };
  } catch (error) {
    return { error: messageOf(error, sentences[change.kind]) };
  }
}

const sentences: Record<OrderChange['kind'], string> = {
  addDonation: fallback.setDonation,
  addCustomDonation: fallback.setCustomDonation,
  addProduct: fallback.addProduct,
  removeDonation: fallback.deleteDonation,
  removeProduct: fallback.deleteStoreProduct,
};

export function Component() {
  const { checkout } = useLoaderData<{ checkout: Outcome<Checkout> | Promise<Outcome<Checkout>> }>();
  const outcome = useArrived(checkout);
  const [last, setLast] = useState<Checkout | null>(null);
  useEffect(() => {
    if (outcome && 'data' in outcome) setLast(outcome.data);
  }, [outcome]);
  if (!outcome) return <PageLoader title="Checkout" text="Loading your order…" />;
  if ('goOn' in outcome) return <GoOn to={outcome.goOn} />;
  if ('message' in outcome && outcome.isLost) return <Lost title="Checkout" message={outcome.message} />;
  const shown = 'data' in outcome ? outcome.data : last;
  const error = 'message' in outcome ? outcome.message : null;
  return shown ? (
    <Screen checkout={shown} error={error} />
  ) : (
    <LoadAgainPage
      title="Checkout"
      message={error ?? fallback.getCheckoutDetails}
      retryMs={'message' in outcome ? outcome.retryMs : null}
    >
      <StartOver />
    </LoadAgainPage>
  );
}

function Screen({ checkout, error }: { checkout: Checkout; error: string | null }) {
  const { details, order, intent } = checkout;
  const fetchers = useFetchers();
  const { state } = useRevalidator();
  const wide = useWide();
  const recommended = stillRecommended(details);
  useEffect(() => {
    standing = true;
    return () => {
      standing = false;
    };
  }, []);
  return (
    <div className={styles.screen}>
      <OrderPanel order={order} refundNote={details.refundNote}>
        {wide && <Recommended products={recommended} />}
      </OrderPanel>
      <section className={styles.form} aria-label="Payment">
        {!details.isCheckoutOnly && <ProgressBar current="Checkout" />}
        <PageHeading title="Checkout" />
        <Announcement total={order.totalDueTodayCents} />
        {error && <Alert>{error}</Alert>}
        {details.unseen && (
          <Unseen
            name={order.membership?.name ?? ''}
            unseen={details.unseen}
            refundNote={details.refundNote}
          />
        )}
        {!wide && <Recommended products={recommended} />}
        <Donations options={details.donationOptions} donations={order.donations} />
        {intent && (
          <Payment
            details={details}
            intent={intent}
            orderIsChanging={state !== 'idle' || fetchers.some((fetcher) => fetcher.state !== 'idle')}
          />
        )}
        <div className={ui.foot}>
          {details.isCheckoutOnly ? (
            <span />
          ) : (
            <Link className={ui.plain} to={screens.membership}>
              <Icon name="arrowLeft" size={18} />
              Back to membership
            </Link>
          )}
          <StartOver />
        </div>
      </section>
    </div>
  );
}

/** Says a changed total when there is a pause; the first one is read with the page. */
function Announcement({ total }: { total: number }) {
  const [first] = useState(total);
  const [changed, setChanged] = useState(false);
  useEffect(() => {
    if (total !== first) setChanged(true);
  }, [total, first]);
  return (
    <p className="sr" role="status">
      {changed && `Total Due Today: ${displayPrice(total)}`}
    </p>
  );
}

const WIDE = '(min-width: 60rem)';

/** Whether the summary stands beside the form; then what is recommended stands under the summary. */
function useWide(): boolean {
  const [wide, setWide] = useState(() => window.matchMedia(WIDE).matches);
  useEffect(() => {
    const query = window.matchMedia(WIDE);
    const update = () => setWide(query.matches);
    query.addEventListener('change', update);
    return () => query.removeEventListener('change', update);
  }, []);
  return wide;
}
