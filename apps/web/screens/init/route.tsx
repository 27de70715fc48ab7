import { type LoaderFunctionArgs, redirect, replace, useLoaderData } from 'react-router';
import type { LoadFailure } from '#client/failures.ts';
import { linkQuery } from '#core/linkQuery.ts';
import { screens, screenTitles } from '#core/navigation.ts';
import { fallback } from '#core/sentences.ts';
import { ButtonLink } from '../../components/ButtonLink.tsx';
import { LoadFailedPage } from '../../components/LoadFailed.tsx';
import { call, outcomeOf } from '../../lib/api.ts';
import { getStartedPath } from '../../lib/getStartedPath.ts';
import { prefetch } from '../../lib/prefetch.ts';
import { storeSession } from '../../lib/session.ts';
import { signatureOf } from '../../lib/signature.ts';
import { lazyScreens } from '../lazyScreens.tsx';

/**
 * Starts a join for the contact in the link, and redirects to Student Details (specification, section 2). Returns a value only on
 * failure.
 */
export async function loader({ params, request }: LoaderFunctionArgs): Promise<LoadFailure> {
  const id = params.hubspotContactId;
  if (!id) throw redirect(screens.getStarted);
  prefetch(lazyScreens.studentDetails.load);
  const body = signatureOf(linkQuery(request.url + window.location.hash));
  const started = await outcomeOf(call('initJoin', { params: { id }, body }), fallback.initJoin);
  if ('kind' in started) return started;
  storeSession(started.data.uuid, started.data.programme);
  throw replace(screens.studentDetails);
}

export function Component() {
  const failure = useLoaderData<typeof loader>();
  return (
    <LoadFailedPage title={screenTitles.init} failure={failure}>
      {failure.code !== 'already_member' && (
        <>
          <p>You can also start with the invite code printed on your invitation.</p>
          <ButtonLink variant={failure.kind === 'refused' ? 'main' : 'plain'} to={getStartedPath()}>
            Get Started
          </ButtonLink>
        </>
      )}
    </LoadFailedPage>
  );
}
