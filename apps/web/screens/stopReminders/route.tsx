import { useState } from 'react';
import { type LoaderFunctionArgs, useLoaderData, useParams } from 'react-router';
import type { Outcome } from '#client/failures.ts';
import type { Data } from '#contract/schemas.ts';
import { screenTitles } from '#core/navigation.ts';
import { LINK_NOT_OPENED } from '#core/sentences.ts';
import { Alert, Note } from '#ui/Alert.tsx';
import { Button } from '#ui/Button.tsx';
import { Hint, Lead, Stack } from '#ui/Text.tsx';
import { Card } from '../../components/Card.tsx';
import { LoadFailedPage } from '../../components/LoadFailed.tsx';
import { SupportEmail } from '../../components/Support.tsx';
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
      <Card title={title}>
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
      <Lead>{society.name} emails reminders to people who started to join and did not finish.</Lead>
      <Stack>
        {areStopped && <Note>We will not send any more reminders to your email address.</Note>}
        {fault && <Alert isAnswer>{fault.message}</Alert>}
        <Button
          variant={areStopped ? 'second' : 'main'}
          full
          busy={busy !== null && 'Saving…'}
          onClick={() => void change()}
        >
          {areStopped ? 'Send reminders again' : 'Stop reminders'}
        </Button>
        <Hint>
          {areStopped
            ? 'You will still get emails about a membership you have paid for, and those you ask for.'
            : 'This is for the address the email was sent to. You will still get emails about a membership you have paid for, and those you ask for.'}
        </Hint>
        <Contact />
      </Stack>
    </>
  );
}

function Contact() {
  return (
    <Hint>
      Questions? Write to <SupportEmail />.
    </Hint>
  );
}
