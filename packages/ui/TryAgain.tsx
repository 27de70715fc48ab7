import { startTransition, useEffect, useRef, useState } from 'react';
import { Button } from './Button.tsx';
import { Hint } from './Text.tsx';

export interface RetryWords {
  press: string;
  busy: string;
  /** Returns the sentence about the next automatic retry: its number, counted from 1, and the number of all retries. */
  waiting: (next: number, most: number) => string;
}

/** The minimum delay (ms) before each automatic retry. */
const WAITS_MS = [3_000, 6_000, 12_000];

/**
 * A button to try again, below a failure's message. If the failure is temporary (`retryMs` is not null), this component also
 * tries again automatically a few times, and says so. Each delay is at least `retryMs`, which comes from the server's
 * Retry-After.
 */
export function TryAgain({
  words,
  retryMs,
  onTry,
  triedBefore = 0,
  busy = false,
  variant = 'main',
}: {
  words: RetryWords;
  retryMs: number | null;
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
      <Hint role="status">{least !== undefined && words.waiting(tries + 1, WAITS_MS.length)}</Hint>
      <Button
        variant={variant}
        busy={busy && words.busy}
        onClick={() => {
          setTries(0);
          onTry(0);
        }}
      >
        {words.press}
      </Button>
    </>
  );
}
