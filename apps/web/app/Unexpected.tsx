import { useEffect } from 'react';
import { useLocation, useRouteError } from 'react-router';
import { screens } from '#core/navigation.ts';
import { Button } from '#ui/Button.tsx';
import { PageHeading } from '#ui/PageHeading.tsx';
import { Sentence } from '#ui/Sentence.tsx';
import { Hint, Stack } from '#ui/Text.tsx';
import { Card } from '../components/Card.tsx';
import { SupportPhone } from '../components/Support.tsx';
import { reportFault } from '../lib/reportFault.ts';
import { storedSession } from '../lib/session.ts';

const KEPT = 'We could not show this page. What you have entered is saved: reload the page, or call {phone}.';
const NOT_KEPT = 'We could not show this page. Reload it, or call {phone}.';

/** The error boundary of all screens, shown for example when a chunk could not be loaded. */
export function Unexpected() {
  const error = useRouteError();
  useEffect(() => {
    reportFault(error instanceof Error && error.name === 'ChunkLoadError' ? 'chunk' : 'router', error);
  }, [error]);
  // Whether to say that what was entered is saved: only on the screens of a join.
  const { pathname } = useLocation();
  const isKept = storedSession() !== null && pathname !== screens.getStarted;
  return (
    <Card>
      <PageHeading title="Unexpected Application Error!" takesFocus />
      <Stack>
        <p role="alert">
          <Sentence text={isKept ? KEPT : NOT_KEPT} values={{ phone: <SupportPhone /> }} />
        </p>
        <Button onClick={() => window.location.reload()}>Load again</Button>
        <Hint>{error instanceof Error ? error.message : String(error)}</Hint>
      </Stack>
    </Card>
  );
}
