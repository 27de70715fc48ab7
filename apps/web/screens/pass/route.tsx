import { useEffect } from 'react';
import { replace, useLoaderData, useLocation, useRevalidator } from 'react-router';
import { failureOf, type LoadFailure } from '#client/failures.ts';
import type { Data } from '#contract/schemas.ts';
import { screenAt, screenTitles } from '#core/navigation.ts';
import { LINK_NOT_OPENED } from '#core/sentences.ts';
import { Alert } from '#ui/Alert.tsx';
import { Stack } from '#ui/Text.tsx';
import { Card } from '../../components/Card.tsx';
import { LoadFailedPage } from '../../components/LoadFailed.tsx';
import { ProveYourself } from '../../components/ProveYourself.tsx';
import { call } from '../../lib/api.ts';
import { enter } from '../../lib/enterJoin.ts';
import { passToken } from '../../lib/session.ts';
import { AskForLink } from './AskForLink.tsx';

const NEW_DEVICE =
  'We do not recognize this device. Before we show anything, please prove that this registration is yours.';

type Loaded =
  | { step: 'ask'; fault: string | null }
  | { step: 'prove'; token: string; opened: Data<'openPass'> }
  | { step: 'failed'; failure: LoadFailure };

/**
 * Returns the token of a letter's link; null when there is none. Removes the token from the page's URL and so from the history.
 * Keeps the token in the tab until the join is opened, because a phone may reload the page when the joiner returns from the mail
 * app.
 */
function takeToken(): string | null {
  const { hash, pathname, search } = window.location;
  // A visitor from another screen wants to request a link, so the stored token of an earlier visit is removed.
  if (screenAt(pathname) !== 'pass') passToken.drop();
  if (/^#[\w-]{8,}$/.test(hash)) {
    window.history.replaceState(window.history.state, '', pathname + search);
    passToken.keep(hash.slice(1));
  }
  return passToken.recall();
}

/** Opens a join by the link in a letter. Without a token, the screen lets the visitor request a link by email. */
export async function loader(): Promise<Loaded> {
  const token = takeToken();
  if (token === null) return { step: 'ask', fault: null };
  let opened: Data<'openPass'>;
  try {
    opened = await call('openPass', { body: { token }, quiet: true });
  } catch (error) {
    const failure = failureOf(error, LINK_NOT_OPENED);
    if (failure.kind !== 'refused') return { step: 'failed', failure };
    passToken.drop();
    return { step: 'ask', fault: failure.message };
  }
  if (!opened.join) return { step: 'prove', token, opened };
  throw replace(enter(opened.join));
}

export function Component() {
  const loaded = useLoaderData() as Loaded;
  const { hash } = useLocation();
  const { revalidate } = useRevalidator();
  // Opening a second link in the same tab changes only the hash. The router then does not run the loader, so the loader is run
  // here.
  useEffect(() => {
    if (hash !== '' && window.location.hash === hash) void revalidate();
  }, [hash, revalidate]);

  if (loaded.step === 'failed') return <LoadFailedPage title={screenTitles.pass} failure={loaded.failure} />;
  return (
    <Card title={screenTitles.pass}>
      {loaded.step === 'prove' ? (
        <ProveYourself token={loaded.token} opened={loaded.opened} lead={NEW_DEVICE} key={loaded.token} />
      ) : (
        <>
          {loaded.fault && (
            <Stack>
              <Alert>{loaded.fault}</Alert>
            </Stack>
          )}
          <AskForLink />
        </>
      )}
    </Card>
  );
}
