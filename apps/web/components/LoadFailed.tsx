import type { ReactNode } from 'react';
import { Link, useRevalidator } from 'react-router';
import type { LoadFailure } from '#client/failures.ts';
import { screens } from '#core/navigation.ts';
import { NO_ANSWER } from '#core/sentences.ts';
import { useSite } from '../lib/site.ts';
import { Alert } from './Alert.tsx';
import cardStyles from './Card.module.css';
import { Card } from './Card.tsx';
import { PageHeading } from './PageHeading.tsx';
import { StartOver } from './StartOver.tsx';
import { TryAgain } from './TryAgain.tsx';
import ui from './ui.module.css';

/**
 * Why a screen's data could not be loaded, with what helps: a link to the join by mail and Start Over, or Try again. `children`
 * are the screen's other ways to go on, for a session that can.
 */
export function LoadFailed({
  failure: { kind, message, retryMs },
  isCentred = false,
  children,
}: {
  failure: LoadFailure;
  /** Whether the message is centred in red, as the specification asks on Membership. */
  isCentred?: boolean;
  children?: ReactNode;
}) {
  const { revalidate, state } = useRevalidator();
  const { sendsLetters } = useSite();
  return (
    <div className={isCentred ? cardStyles.centred : ui.stack}>
      {isCentred ? (
        <p className={ui.fault} role="alert">
          {message}
        </p>
      ) : (
        <Alert>{message}</Alert>
      )}
      {kind === 'unsent' && !message.endsWith(NO_ANSWER) && (
        <p className={ui.hint}>Please check your connection.</p>
      )}
      {(kind === 'unsent' || kind === 'busy') && (
        <TryAgain retryMs={retryMs} onTry={() => void revalidate()} busy={state !== 'idle'} />
      )}
      {kind === 'lost' ? (
        <>
          {sendsLetters && (
            <Link className={ui.plain} to={screens.pass}>
              Send me my link
            </Link>
          )}
          <StartOver isLost />
        </>
      ) : (
        children
      )}
    </div>
  );
}

/** {@link LoadFailed} as a whole page. */
export function LoadFailedPage({
  title,
  ...rest
}: {
  title: string;
  failure: LoadFailure;
  children?: ReactNode;
}) {
  return (
    <Card>
      <PageHeading title={title} />
      <LoadFailed {...rest} />
    </Card>
  );
}
