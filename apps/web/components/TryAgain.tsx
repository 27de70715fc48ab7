import { type ReactNode, startTransition, useEffect, useRef, useState } from 'react';
import { useRevalidator } from 'react-router';
import type { RetryMs } from '../lib/api.ts';
import { Alert } from './Alert.tsx';
import { Button } from './Button.tsx';
import { Card } from './Card.tsx';
import { PageHeading } from './PageHeading.tsx';
import ui from './ui.module.css';

/** The minimum delay (ms) before each automatic retry. */
const WAITS_MS = [3_000, 6_000, 12_000];

/**
 * Shows a failure's message and a button to try again. If the failure is temporary (`retryMs` is not null), this component also
 * tries again by itself a few times, and says so. Each delay is at least `retryMs`, which comes from the server's Retry-After.
 */
export function TryAgain({
  message,
  retryMs,
  onTry,
  triedBefore = 0,
  busy = false,
  variant = 'main',
}: {
  /** The failure's message; null if the caller shows the message itself. */
  message: string | null;
  retryMs: RetryMs;
  /**
   * Called for each retry. `tries` is 0 if the button was pressed, otherwise the number of automatic retries, counting this
   * retry.
   */
  onTry: (tries: number) => void;
  /** The number of automatic retries so far, for a caller that remounts this component for each try. */
  triedBefore?: number;
  busy?: boolean;
  variant?: 'main' | 'second';
}) {
  const [tries, setTries] = useState(triedBefore);
  const latest = useRef(onTry);
  latest.current = onTry;
  const least = retryMs === null || busy ? undefined : WAITS_MS[tries];
  useEffect(() => {
    if (least === undefined) return;
    // Jitter, so that not all clients retry at once.
    const wait = Math.max(least, retryMs ?? 0) * (1 + Math.random() / 4);
    const timer = setTimeout(() => {
      // The transition delays the new count until the router has finished loading. Screen readers then announce the next wait only
      // if this retry has failed.
      startTransition(() => setTries(tries + 1));
      latest.current(tries + 1);
    }, wait);
    return () => clearTimeout(timer);
  }, [least, retryMs, tries]);
  return (
    <>
      {message !== null && <Alert>{message}</Alert>}
      <p className={ui.hint} role="status">
        {least !== undefined && `It is tried again by itself (${tries + 1} of ${WAITS_MS.length})…`}
      </p>
      <Button
        variant={variant}
        busy={busy && 'Trying again…'}
        onClick={() => {
          setTries(0);
          onTry(0);
        }}
      >
        Try again
      </Button>
    </>
  );
}

/** Shown on a screen whose loader failed. Runs the loader again. */
export function LoadAgain({ message, retryMs }: { message: string; retryMs: RetryMs }) {
  const { revalidate, state } = useRevalidator();
  return (
    <TryAgain message={message} retryMs={retryMs} onTry={() => void revalidate()} busy={state !== 'idle'} />
  );
}

/** {@link LoadAgain} as a whole page. `children`, such as other ways to continue, are shown below. */
export function LoadAgainPage({
  title,
  children,
  ...failure
}: {
  title: string;
  message: string;
  retryMs: RetryMs;
  children?: ReactNode;
}) {
  return (
    <Card>
      <PageHeading title={title} />
      <div className={ui.stack}>
        <LoadAgain {...failure} />
        {children}
      </div>
    </Card>
  );
}
