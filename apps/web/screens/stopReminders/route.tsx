import { useState } from 'react';
import { type LoaderFunctionArgs, useLoaderData, useParams } from 'react-router';
import type { Outcome } from '#client/failures.ts';
import type { Data } from '#contract/schemas.ts';
import { screenTitles } from '#core/navigation.ts';
import { LINK_NOT_OPENED } from '#core/sentences.ts';
import { Alert, Note } from '../../components/Alert.tsx';
import { Button } from '../../components/Button.tsx';
import { Card } from '../../components/Card.tsx';
import { LoadFailedPage } from '../../components/LoadFailed.tsx';
import { PageHeading } from '../../components/PageHeading.tsx';
import ui from '../../components/ui.module.css';
import { call, outcomeOf } from '../../lib/api.ts';
import { useSite } from '../../lib/site.ts';
import { useAttempt } from '../../lib/useAttempt.ts';

const title = screenTitles.stopReminders;

/**
 * Loads whether reminders to the link's email are stopped. Opening the page changes nothing, because mail scanners also open the
 * links in emails.
 */
export function loader({ params }: LoaderFunctionArgs): Promise<Outcome<Data<'getReminders'>>> {
  return outcomeOf(
    call('getReminders', { params: { token: params.token ?? '' }, quiet: true }),
    LINK_NOT_OPENED,
  );
}

/** The page that stops reminders to an email, or allows them again. */
export function Component() {
  const loaded = useLoaderData() as Awaited<ReturnType<typeof loader>>;
  const { token = '' } = useParams();
  if ('data' in loaded)
    return (
      <Card>
        <PageHeading title={title} />
        <Choice token={token} initial={loaded.data.areStopped} key={token} />
      </Card>
    );
  return (
    <LoadFailedPage title={title} failure={loaded}>
      <Contact />
    </LoadFailedPage>
  );
}

function Choice({ token, initial }: { token: string; initial: boolean }) {
  const { society } = useSite();
  const [areStopped, setStopped] = useState(initial);
  const { busy, fault, attempt } = useAttempt('That could not be saved. Please try again.');

  const change = () =>
    attempt('save', async () => {
      const body = { areStopped: !areStopped };
      setStopped((await call('setReminders', { params: { token }, body, quiet: true })).areStopped);
    });

  return (
    <>
      <p className={ui.lead}>
        {society.name} reminds people by email of a join that they have begun and not finished.
      </p>
      <div className={ui.stack}>
        {areStopped && <Note>No more reminders go to your email address.</Note>}
        {fault && <Alert isAnswer>{fault.message}</Alert>}
        <Button
          variant={areStopped ? 'second' : 'main'}
          full
          busy={busy !== null && 'Saving…'}
          onClick={() => void change()}
        >
          {areStopped ? 'Send reminders again' : 'Stop reminders'}
        </Button>
        <p className={ui.hint}>
          {areStopped
            ? 'Emails about a membership that was paid for still come, and those that you ask for.'
            : 'That is for the address to which the email came. Emails about a membership that was paid for still come, and those that you ask for.'}
        </p>
        <Contact />
      </div>
    </>
  );
}

function Contact() {
  const { society } = useSite();
  return (
    <p className={ui.hint}>
      Questions? Write to <a href={`mailto:${society.supportEmail}`}>{society.supportEmail}</a>.
    </p>
  );
}
