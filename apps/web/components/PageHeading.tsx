import { type ReactNode, useEffect, useRef } from 'react';

/** Whether another screen has been shown since the page was loaded. */
let hasNavigated = false;

/** From now on each new screen's heading takes the focus, so that a screen reader says where one is. */
export function noteNavigation(): void {
  hasNavigated = true;
}

/** The screen's heading, which is also the page's title unless `title` says otherwise. */
export function PageHeading({
  title,
  hasErrors = false,
  takesFocus = false,
  className,
  children,
}: {
  title: string;
  /** Prefixes the title, so that it is the first thing said when the page is read out. */
  hasErrors?: boolean;
  /** It replaces what was on the screen without a navigation. */
  takesFocus?: boolean;
  className?: string | undefined;
  children?: ReactNode;
}) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = hasErrors ? `Error: ${title}` : title;
  }, [title, hasErrors]);
  useEffect(() => {
    if (hasNavigated || takesFocus) heading.current?.focus({ preventScroll: true });
  }, [takesFocus]);
  return (
    <h1 ref={heading} tabIndex={-1} className={className}>
      {children ?? title}
    </h1>
  );
}
