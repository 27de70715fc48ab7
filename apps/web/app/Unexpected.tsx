import { useEffect } from 'react';
import { useLocation, useRouteError } from 'react-router';
import { screens } from '#core/navigation.ts';
import { Button } from '../components/Button.tsx';
import { Card } from '../components/Card.tsx';
import { PageHeading } from '../components/PageHeading.tsx';
import ui from '../components/ui.module.css';
import { reportFault } from '../lib/reportFault.ts';
import { storedSession } from '../lib/session.ts';
import { phoneLink, useSite } from '../lib/site.ts';

/** The error boundary of all screens, shown for example when a chunk could not be loaded. */
export function Unexpected() {
  const { society } = useSite();
  const error = useRouteError();
  useEffect(() => {
    reportFault(error instanceof Error && error.name === 'ChunkLoadError' ? 'chunk' : 'router', error);
  }, [error]);
  // Whether a reload brings back what the joiner has typed: it does so on the screens of a join, but not on Get Started.
  const { pathname } = useLocation();
  const isKept = storedSession() !== null && pathname !== screens.getStarted;
  return (
    <Card>
      <PageHeading title="Unexpected Application Error!" takesFocus />
      <div className={ui.stack}>
        <p role="alert">
          This page could not be shown. {isKept ? 'What you have entered so far is kept: load' : 'Load'} the
          page again, or call <a href={phoneLink(society.supportPhone)}>{society.supportPhone}</a>.
        </p>
        <Button onClick={() => window.location.reload()}>Load again</Button>
        <p className={ui.hint}>{error instanceof Error ? error.message : String(error)}</p>
      </div>
    </Card>
  );
}
