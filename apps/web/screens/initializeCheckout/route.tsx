import { Link, type LoaderFunctionArgs, replace, useLoaderData } from 'react-router';
import { screens } from '#core/navigation.ts';
import { fallback } from '#core/sentences.ts';
import { Alert } from '../../components/Alert.tsx';
import { Card } from '../../components/Card.tsx';
import { PageHeading } from '../../components/PageHeading.tsx';
import { LoadAgainPage } from '../../components/TryAgain.tsx';
import ui from '../../components/ui.module.css';
import { call, type LoadFailure, outcomeOf } from '../../lib/api.ts';
import { getStartedPath } from '../../lib/getStartedPath.ts';
import { prefetch } from '../../lib/prefetch.ts';
import { storeSession } from '../../lib/session.ts';
import { signatureOf, wholeNumber } from '../../lib/signature.ts';
import { lazyScreens } from '../lazyScreens.tsx';

/**
 * Starts a checkout from a link and redirects to it. The query's parameters are vid (contact), mp (main product), usp (upgrade
 * offer) and c (price in cents). Returns a failure, or null if the link names no contact.
 */
export async function loader({ request }: LoaderFunctionArgs): Promise<LoadFailure | null> {
  const query = new URL(request.url).searchParams;
  const hubspotContactId = query.get('vid');
  if (!hubspotContactId) {
    console.error('Contact ID is missing.');
    return null;
  }
  prefetch(lazyScreens.checkout.load);
  const started = await outcomeOf(initiate(hubspotContactId, query), fallback.initiateCheckout);
  if ('message' in started) return started;
  storeSession(started.data.joinSessionUuid, started.data.programme);
  throw replace(screens.checkout);
}

async function initiate(hubspotContactId: string, query: URLSearchParams) {
  const mainProductId = wholeNumber(query, 'mp');
  const upsellProductId = wholeNumber(query, 'usp');
  const overrideMainPriceCents = wholeNumber(query, 'c');
  if ([mainProductId, upsellProductId, overrideMainPriceCents].some(Number.isNaN)) {
    throw new Error();
  }
  return call('initiateCheckout', {
    body: { hubspotContactId, mainProductId, upsellProductId, overrideMainPriceCents, ...signatureOf(query) },
    quiet: 503,
  });
}

export function Component() {
  const failure = useLoaderData<typeof loader>();
  if (failure && failure.retryMs !== null)
    return <LoadAgainPage title="Checkout" message={`Error: ${failure.message}`} retryMs={failure.retryMs} />;
  return (
    <Card>
      <PageHeading title="Checkout" />
      <div className={ui.stack}>
        {failure ? (
          <Alert>Error: {failure.message}</Alert>
        ) : (
          <p>A checkout opens by the link in your email. With an invite code you can begin here.</p>
        )}
        <Link className={failure ? ui.plain : ui.button} to={getStartedPath()}>
          Get Started
        </Link>
      </div>
    </Card>
  );
}
