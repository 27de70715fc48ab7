import { type ReactNode, startTransition, useEffect, useRef, useState } from 'react';
import { useRevalidator } from 'react-router';
import type { RetryMs } from '../lib/api.ts';
import { Alert } from './Alert.tsx';
import { Button } from './Button.tsx';
import { Card } from './Card.tsx';
import { PageHeading } from './PageHeading.tsx';
import ui from './ui.module.css';

/** Minimum delays before automatic retries (ms). */
const WAITS_MS = [3_000, 6_000, 12_000];

/**
 * A failure's message and a button that tries again. After a temporary failure (`retryMs`, the server's Retry-After) it retries by
 * itself a few times, visibly and never earlier than the server asked.
 */
export function TryAgain({
  message,
  retryMs,
  onTry,
  triedBefore = 0,
  busy = false,
  variant = 'main',
}: {
  /** Null when the caller shows the message itself. */
  message: string | null;
  retryMs: RetryMs;
  /** Called with the number of automatic retries so far; 0 for a press of the button. */
  onTry: (tries: number) => void;
  /** The initial number of retries, for a caller that remounts this with each try. */
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
      // A transition, like the router's loading, so that the next wait is announced only after this try has failed.
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

/** For a screen whose loader failed: runs the loader again. */
export function LoadAgain({ message, retryMs }: { message: string; retryMs: RetryMs }) {
  const { revalidate, state } = useRevalidator();
  return (
    <TryAgain message={message} retryMs={retryMs} onTry={() => void revalidate()} busy={state !== 'idle'} />
  );
}

/** {@link LoadAgain} as a whole page; `children` are alternatives. */
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
