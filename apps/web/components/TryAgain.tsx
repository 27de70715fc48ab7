import { type ReactNode, useEffect, useRef, useState } from 'react';
import { useRevalidator } from 'react-router';
import type { RetryMs } from '../lib/api.ts';
import { Alert } from './Alert.tsx';
import { Button } from './Button.tsx';
import { Card } from './Card.tsx';
import { PageHeading } from './PageHeading.tsx';
import ui from './ui.module.css';

/** The least that is waited before each try (ms): ever longer, since many opened their mail in the same minute. */
const WAITS_MS = [3_000, 6_000, 12_000];

/**
 * Something failed, and may work another time: what was said, and a button. Where the server says that it cannot say now
 * (`retryMs`, its Retry-After), a few tries are made by themselves, visibly, none before it asked for one.
 */
export function TryAgain({
  message,
  retryMs,
  again,
  triedBefore = 0,
  busy = false,
  look = 'main',
}: {
  /** Null where it is said already. */
  message: string | null;
  retryMs: RetryMs;
  /** With how many tries were made by themselves so far; by hand that begins anew. */
  again: (tries: number) => void;
  /** For who is drawn anew with each try. */
  triedBefore?: number;
  busy?: boolean;
  look?: 'main' | 'second';
}) {
  const [tries, setTries] = useState(triedBefore);
  const latest = useRef(again);
  latest.current = again;
  const least = retryMs === null || busy ? undefined : WAITS_MS[tries];
  useEffect(() => {
    if (least === undefined) return;
    // A little later for everybody else, so that they do not all come back together.
    const wait = Math.max(least, retryMs ?? 0) * (1 + Math.random() / 4);
    const timer = setTimeout(() => {
      setTries(tries + 1);
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
        look={look}
        busy={busy && 'Trying again…'}
        onClick={() => {
          setTries(0);
          again(0);
        }}
      >
        Try again
      </Button>
    </>
  );
}

/** The screen's own data did not come: the same for all of it. */
export function LoadAgain({ message, retryMs }: { message: string; retryMs: RetryMs }) {
  const { revalidate, state } = useRevalidator();
  return (
    <TryAgain message={message} retryMs={retryMs} again={() => void revalidate()} busy={state !== 'idle'} />
  );
}

/** A whole page of it; `children` is what else one can do. */
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
