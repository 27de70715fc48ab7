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
