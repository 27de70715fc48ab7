import { Link } from 'react-router';
import { screens } from '#core/navigation.ts';
import { useSite } from '../lib/site.ts';
import { Alert } from './Alert.tsx';
import { Card } from './Card.tsx';
import { PageHeading } from './PageHeading.tsx';
import { StartOver } from './StartOver.tsx';
import ui from './ui.module.css';

/** Shows that the session cannot continue in this browser. */
export function Lost({ title, message }: { title: string; message: string }) {
  return (
    <Card>
      <PageHeading title={title} />
      <div className={ui.stack}>
        <WaysOn message={message} />
      </div>
    </Card>
  );
}

/** The message that the session cannot continue in this browser, the link to have its link mailed, and the button Start Over. */
export function WaysOn({ message }: { message: string }) {
  const { sendsLetters } = useSite();
  return (
    <>
      <Alert>{message}</Alert>
      {sendsLetters && (
        <Link className={ui.plain} to={screens.pass}>
          Send me my link
        </Link>
      )}
      <StartOver isLost />
    </>
  );
}
