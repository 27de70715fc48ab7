import { Link, type LoaderFunctionArgs, redirect, useLoaderData } from 'react-router';
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
import { call, type Outcome, outcomeOf } from '../../lib/api.ts';
import { useArrived } from '../../lib/arrived.ts';
import { storeSession } from '../../lib/session.ts';
import { signatureOf } from '../../lib/signature.ts';

/** Starts the join that the link names (specification, section 2). */
export function loader({ params, request }: LoaderFunctionArgs) {
  const id = params.hubspotContactId;
  if (!id) return redirect(screens.getStarted);
  fetchAhead(download.studentDetails);
  const body = signatureOf(new URL(request.url).searchParams);
  return {
    started: outcomeOf(
      call('initJoin', { params: { id }, body, quiet: 503 }).then(keepSession),
      fallback.initJoin,
    ),
  };
}

function keepSession({ uuid }: { uuid: string }): string {
  storeSession(uuid);
  return uuid;
}

export function Component() {
  const { started } = useLoaderData() as { started: Promise<Outcome<string>> };
  const outcome = useArrived(started);
  if (!outcome) return <PageLoader title="Your invitation" text="Opening your invitation…" />;
  if ('data' in outcome) return <GoOn to={screens.studentDetails} />;
  if ('goOn' in outcome) return <GoOn to={outcome.goOn} />;
  const otherWay = (
    <>
      <p>You can also begin with the invite code that is printed on your invitation.</p>
      <Link className={outcome.retryMs !== null ? ui.plain : ui.button} to={screens.getStarted}>
        Get Started
      </Link>
    </>
  );
  if (outcome.retryMs !== null)
    return (
      <LoadAgainPage title="Your invitation" message={outcome.message} retryMs={outcome.retryMs}>
        {otherWay}
      </LoadAgainPage>
    );
  return (
    <Card>
      <PageHeading title="Your invitation" />
      <div className={ui.stack}>
        <Alert>{outcome.message}</Alert>
        {otherWay}
      </div>
    </Card>
  );
}
