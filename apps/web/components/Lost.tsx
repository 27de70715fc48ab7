import { Alert } from './Alert.tsx';
import { Card } from './Card.tsx';
import { PageHeading } from './PageHeading.tsx';
import { StartOver } from './StartOver.tsx';
import ui from './ui.module.css';

/** Shows that the session cannot continue: the message, and the button Start Over. */
export function Lost({ title, message }: { title: string; message: string }) {
  return (
    <Card>
      <PageHeading title={title} />
      <div className={ui.stack}>
        <Alert>{message}</Alert>
        <StartOver isLost />
      </div>
    </Card>
  );
}
