import { Link, type LoaderFunctionArgs, useLoaderData } from 'react-router';
import { screens } from '#core/navigation.ts';
import { fallback } from '#core/sentences.ts';
import { Alert } from '../../components/Alert.tsx';
import { Card } from '../../components/Card.tsx';
import { GoOn } from '../../components/GoOn.tsx';
import { PageHeading } from '../../components/PageHeading.tsx';
import { PageLoader } from '../../components/PageLoader.tsx';
import { LoadAgainPage } from '../../components/TryAgain.tsx';
import ui from '../../components/ui.module.css';
import { download, fetchAhead } from '../../lib/ahead.ts';
import { keepAnswer } from '../../lib/answerAhead.ts';
import { call, type Outcome, outcomeOf } from '../../lib/api.ts';
import { useArrived } from '../../lib/arrived.ts';
import { storeSession } from '../../lib/session.ts';
import { signatureOf, wholeNumber } from '../../lib/signature.ts';

/** Starts a checkout from a link: vid (contact), mp (main product), usp (upsell), c (price in cents). */
export function loader({ request }: LoaderFunctionArgs): { started: Promise<Outcome<true>> | null } {
  const query = new URL(request.url).searchParams;
  const hubspotContactId = query.get('vid');
  if (!hubspotContactId) {
    console.error('Contact ID is missing.');
    return { started: null };
  }
  fetchAhead(download.checkout);
  return { started: outcomeOf(initiate(hubspotContactId, query), fallback.initiateCheckout) };
}

async function initiate(hubspotContactId: string, query: URLSearchParams): Promise<true> {
  const mainProductId = wholeNumber(query, 'mp');
  const upsellProductId = wholeNumber(query, 'usp');
  const overrideMainPriceCents = wholeNumber(query, 'c');
  if ([mainProductId, upsellProductId, overrideMainPriceCents].some(Number.isNaN)) {
    throw new Error('A number of the link is none.');
  }
  const { joinSessionUuid, checkoutDetails } = await call('initiateCheckout', {
    body: { hubspotContactId, mainProductId, upsellProductId, overrideMainPriceCents, ...signatureOf(query) },
    quiet: 503,
  });
  storeSession(joinSessionUuid);
  keepAnswer('getCheckoutDetails', joinSessionUuid, checkoutDetails);
  return true;
}

export function Component() {
  const { started } = useLoaderData<typeof loader>();
  if (!started) {
    return (
      <Card>
        <PageHeading title="Checkout" />
        <div className={ui.stack}>
          <p>A checkout opens by the link in your email. With an invite code you can begin here.</p>
          <Link className={ui.button} to={screens.getStarted}>
            Get Started
          </Link>
        </div>
      </Card>
    );
  }
  return <Started started={started} />;
}

function Started({ started }: { started: Promise<Outcome<true>> }) {
  const outcome = useArrived(started);
  if (!outcome) return <PageLoader title="Checkout" text="Preparing your checkout…" />;
  if ('data' in outcome) return <GoOn to={screens.checkout} />;
  if ('goOn' in outcome) return <GoOn to={outcome.goOn} />;
  if (outcome.retryMs !== null)
    return <LoadAgainPage title="Checkout" message={`Error: ${outcome.message}`} retryMs={outcome.retryMs} />;
  return (
    <Card>
      <PageHeading title="Checkout" />
      <div className={ui.stack}>
        <Alert>Error: {outcome.message}</Alert>
        <Link className={ui.plain} to={screens.getStarted}>
          Get Started
        </Link>
      </div>
    </Card>
  );
}
