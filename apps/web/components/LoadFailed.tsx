import type { ReactNode } from 'react';
import { useRevalidator } from 'react-router';
import type { LoadFailure } from '#client/failures.ts';
import { screens } from '#core/navigation.ts';
import { NO_ANSWER } from '#core/sentences.ts';
import { Alert } from '#ui/Alert.tsx';
import { Hint, Stack } from '#ui/Text.tsx';
import { useSite } from '../lib/site.ts';
import { ButtonLink } from './ButtonLink.tsx';
import { Card } from './Card.tsx';
import { CentredFault } from './CentredFault.tsx';
import { StartOver } from './StartOver.tsx';
import { TryAgain } from './TryAgain.tsx';

/**
 * Shows why a screen's data could not be loaded, and what helps: if the session is lost, requesting the join's link by mail or
 * Start Over; otherwise Try again. `children` are the screen's other ways to continue, shown only if the session can continue.
 */
export function LoadFailed({
  failure: { kind, message, retryMs },
  isCentred = false,
  children,
}: {
  failure: LoadFailure;
  /** Whether the message is centred and red, as the specification requires on Membership. */
  isCentred?: boolean;
  children?: ReactNode;
}) {
  const { revalidate, state } = useRevalidator();
  const { sendsLetters } = useSite();
  return (
    <Stack isCentred={isCentred}>
      {isCentred ? <CentredFault message={message} /> : <Alert>{message}</Alert>}
      {kind === 'unsent' && !message.endsWith(NO_ANSWER) && <Hint>Please check your connection.</Hint>}
      {(kind === 'unsent' || kind === 'busy') && (
        <TryAgain retryMs={retryMs} onTry={() => void revalidate()} busy={state !== 'idle'} />
      )}
      {kind === 'lost' ? (
        <>
          {sendsLetters && (
            <ButtonLink variant="plain" to={screens.pass}>
              Send me my link
            </ButtonLink>
          )}
          <StartOver isLost />
        </>
      ) : (
        children
      )}
    </Stack>
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
    <Card title={title}>
      <LoadFailed {...rest} />
    </Card>
  );
}
