import { type ReactNode, useEffect, useState } from 'react';
import { useRevalidator } from 'react-router';
import { Alert } from './Alert.tsx';
import { Button } from './Button.tsx';
import { Card } from './Card.tsx';
import { PageHeading } from './PageHeading.tsx';
import { PageLoader } from './PageLoader.tsx';
import ui from './ui.module.css';

/** How long the page waits before each try (ms): ever longer, since many opened their mail in the same minute. */
const WAITS_MS = [3_000, 6_000, 12_000];

/**
 * The server said that it cannot say now: the screen is loaded again by itself a few times, visibly, and then by a button.
 * `message` is the server's; `children` is what else one can do.
 */
export function TryAgain({
  title,
  message,
  children,
}: {
  title: string;
  message: string;
  children?: ReactNode;
}) {
  const { revalidate } = useRevalidator();
  const [tries, setTries] = useState(0);
  const waitMs = WAITS_MS[tries];
  useEffect(() => {
    if (waitMs === undefined) return;
    // A little different for everybody, so that they do not all come back together.
    const timer = setTimeout(
      () => {
        setTries((count) => count + 1);
        void revalidate();
      },
      waitMs * (0.75 + Math.random() / 2),
    );
    return () => clearTimeout(timer);
  }, [waitMs, revalidate]);

  if (waitMs !== undefined)
    return (
      <PageLoader
        title={title}
        text={`${message} This page tries again by itself (${tries + 1} of ${WAITS_MS.length})…`}
      />
    );
  return (
    <Card>
      <PageHeading title={title} />
      <div className={ui.stack}>
        <Alert>{message}</Alert>
        <Button
          onClick={() => {
            setTries(0);
            void revalidate();
          }}
        >
          Try again
        </Button>
        {children}
      </div>
    </Card>
  );
}
