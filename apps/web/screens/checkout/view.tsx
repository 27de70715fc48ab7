import { useEffect, useState } from 'react';
import { useFetchers, useLoaderData, useRevalidator } from 'react-router';
import { displayPrice } from '#core/money.ts';
import { screens } from '#core/navigation.ts';
import { Alert } from '#ui/Alert.tsx';
import { PageHeading } from '#ui/PageHeading.tsx';
import { BackLink, Foot } from '../../components/Foot.tsx';
import { LoadFailedPage } from '../../components/LoadFailed.tsx';
import { ProgressBar } from '../../components/ProgressBar.tsx';
import { StartOver } from '../../components/StartOver.tsx';
import { AskToPay } from './AskToPay.tsx';
import { Donations } from './Donations.tsx';
import type { loader } from './loader.ts';
import { OrderPanel } from './OrderPanel.tsx';
import { type Checkout, stillRecommended } from './order.ts';
import { Payment } from './Payment.tsx';
import { Recommended } from './Recommended.tsx';
import styles from './styles.module.css';
import { Unseen } from './Unseen.tsx';
import { usePayment } from './usePayment.ts';

export function Component() {
  const outcome = useLoaderData<typeof loader>();
  const loaded = 'data' in outcome ? outcome.data : null;
  const failure = 'data' in outcome ? null : outcome;
  // If the order cannot be loaded again after a change, the screen shows the last loaded order with the error.
  const [last, setLast] = useState(loaded);
  useEffect(() => {
    if (loaded) setLast(loaded);
  }, [loaded]);
  const checkout = loaded ?? last;
  if (failure && (!checkout || failure.kind === 'lost'))
    return (
      <LoadFailedPage title="Checkout" failure={failure}>
        <StartOver />
      </LoadFailedPage>
    );
  return checkout && <Screen checkout={checkout} error={failure?.message ?? null} />;
}

function Screen({ checkout, error }: { checkout: Checkout; error: string | null }) {
  const { details, order, intent, isBeingPaid } = checkout;
  const fetchers = useFetchers();
  const { state } = useRevalidator();
  const paying = usePayment(intent);
  const wide = useWide();
  const recommended = stillRecommended(details);
  return (
    <div className={styles.screen}>
      <OrderPanel order={order} refundNote={details.refundNote}>
        {wide && <Recommended products={recommended} showsDelivery={order.storeProducts.length === 0} />}
      </OrderPanel>
      <section className={styles.form} aria-label="Payment">
        {!details.isCheckoutOnly && <ProgressBar current="Checkout" />}
        <PageHeading title="Checkout" />
        {details.payingFor && <p className={styles.payingFor}>{`Paying for ${details.payingFor}`}</p>}
        <Announcement total={order.totalDueTodayCents} />
        {error && <Alert>{error}</Alert>}
        {details.unseen && (
          <Unseen
            name={order.membership?.name ?? ''}
            unseen={details.unseen}
            refundNote={details.refundNote}
          />
        )}
        {!wide && <Recommended products={recommended} showsDelivery />}
        <Donations options={details.donationOptions} donations={order.donations} />
        {intent && (
          <Payment
            details={details}
            foldsAddress={!wide}
            order={order}
            intent={intent}
            orderIsChanging={state !== 'idle' || fetchers.some((fetcher) => fetcher.state !== 'idle')}
            paying={paying}
          />
        )}
        {/* Only a server that has revisions has pay links. */}
        {details.revision !== undefined && (intent || isBeingPaid) && (
          <AskToPay details={details} isBeingPaid={isBeingPaid} />
        )}
        <Foot>
          {details.isCheckoutOnly ? (
            <span />
          ) : (
            <BackLink to={screens.membership}>Back to membership</BackLink>
          )}
          <StartOver disabled={paying.payment.stage !== 'ready'} />
        </Foot>
      </section>
    </div>
  );
}

/** Announces each changed total to screen readers, but not the initial one. */
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

/**
 * Whether the screen is wide enough to show the summary next to the form. If so, recommended products are shown below the
 * summary.
 */
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
