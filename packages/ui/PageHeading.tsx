import { type ReactNode, useEffect, useRef } from 'react';
import { useTitle } from './title.ts';

/** Whether the app has navigated since the document was loaded. */
let hasNavigated = false;

/**
 * Records that a navigation has happened. The layout calls this at each navigation. From then on, the heading of each new screen
 * takes the focus, so that screen readers announce it.
 */
export function noteNavigation(): void {
  hasNavigated = true;
}

/** The screen's `h1`, which also sets the document's title. */
export function PageHeading({
  title,
  takesFocus = false,
  className,
  children,
}: {
  title: string;
  /** Whether the heading takes the focus even if it appears without a navigation. */
  takesFocus?: boolean;
  className?: string | undefined;
  children?: ReactNode;
}) {
  const heading = useRef<HTMLHeadingElement>(null);
  useTitle(title);
  useEffect(() => {
    if (hasNavigated || takesFocus) heading.current?.focus({ preventScroll: true });
  }, [takesFocus]);
  return (
    <h1 ref={heading} tabIndex={-1} className={className}>
      {children ?? title}
    </h1>
  );
}
