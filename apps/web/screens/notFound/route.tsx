import { Link } from 'react-router';
import { screens } from '#core/navigation.ts';
import { Card } from '../../components/Card.tsx';
import { PageHeading } from '../../components/PageHeading.tsx';
import ui from '../../components/ui.module.css';
import { getStartedPath } from '../../lib/getStartedPath.ts';
import { storedSession } from '../../lib/session.ts';

export function Component() {
  // A visitor without a join can get here, because the guard lets some unknown paths through.
  const hasJoin = storedSession() !== null;
  return (
    <Card>
      <PageHeading title="Page not found" />
      <div className={ui.stack}>
        <p>
          There is no page at this address.
          {hasJoin && ' Your join is safe: it goes on where you left it.'}
        </p>
        {hasJoin && (
          <Link className={ui.button} to={screens.studentDetails}>
            Continue your join
          </Link>
        )}
        <Link className={hasJoin ? ui.plain : ui.button} to={getStartedPath()}>
          Get Started
        </Link>
      </div>
    </Card>
  );
}
