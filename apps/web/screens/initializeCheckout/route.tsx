import { type LoaderFunctionArgs, replace, useLoaderData } from 'react-router';
import type { LoadFailure } from '#client/failures.ts';
import { type CheckoutQuery, readCheckoutQuery, unreadInLink } from '#core/linkQuery.ts';
import { screens } from '#core/navigation.ts';
import { fallback } from '#core/sentences.ts';
import { Stack } from '#ui/Text.tsx';
import { ButtonLink } from '../../components/ButtonLink.tsx';
import { Card } from '../../components/Card.tsx';
import { LoadFailedPage } from '../../components/LoadFailed.tsx';
import { call, outcomeOf } from '../../lib/api.ts';
import { getStartedPath } from '../../lib/getStartedPath.ts';
import { prefetch } from '../../lib/prefetch.ts';
import { storeSession } from '../../lib/session.ts';
import { lazyScreens } from '../lazyScreens.tsx';

/**
 * Starts a checkout from a link and redirects to it. The query's parameters are vid (contact), mp (main product), usp (upgrade
 * offer) and c (price in cents). If a parameter cannot be read, no checkout is started. Returns a failure, or null if the link
 * names no contact.
 */
export async function loader({ request }: LoaderFunctionArgs): Promise<LoadFailure | null> {
  const query = readCheckoutQuery(request.url + window.location.hash);
  if (query === null) {
    console.error('Contact ID is missing.');
    return null;
  }
  if ('unread' in query) return { kind: 'refused', message: unreadInLink(query.unread), retryMs: null };
  prefetch(lazyScreens.checkout.load);
  const started = await outcomeOf(initiate(query), fallback.initiateCheckout);
  if ('kind' in started) return started;
  storeSession(started.data.joinSessionUuid, started.data.programme);
  throw replace(screens.checkout);
}

function initiate({ vid = '', mp, usp, c, ...signature }: CheckoutQuery) {
  const number = (text: string | undefined) => (text === undefined ? null : Number(text));
  return call('initiateCheckout', {
    body: {
      hubspotContactId: vid,
      mainProductId: number(mp),
      upsellProductId: number(usp),
      overrideMainPriceCents: number(c),
      ...signature,
    },
  });
}

export function Component() {
  const failure = useLoaderData<typeof loader>();
  const getStarted = (
    <ButtonLink variant={failure ? 'plain' : 'main'} to={getStartedPath()}>
      Get Started
    </ButtonLink>
  );
  if (failure)
    return (
      <LoadFailedPage title="Checkout" failure={{ ...failure, message: `Error: ${failure.message}` }}>
        {failure.code !== 'already_member' && getStarted}
      </LoadFailedPage>
    );
  return (
    <Card title="Checkout">
      <Stack>
        <p>
          To open your checkout, use the link in your email. If you have an invite code, you can start here.
        </p>
        {getStarted}
      </Stack>
    </Card>
  );
}
