import { type ReactNode, useEffect, useLayoutEffect, useRef } from 'react';
import { useLocation } from 'react-router';

/** The part of the router that is needed here. */
interface Moment {
  location: { key: string };
  historyAction: string;
}
interface Navigating {
  state: Moment;
  subscribe(listener: (moment: Moment) => void): () => void;
}

/** Whether the screen is a new one and not yet at its top; undefined until the first navigation. */
let isNew: boolean | undefined;

/**
 * From the first navigation on, a new screen's heading takes the focus, so that a screen reader says where one is.
 * A new screen begins at its top; going back is left to the browser, which knows where one was.
 */
export function noteNavigation(router: Navigating): void {
  let last = router.state.location.key;
  router.subscribe(({ location, historyAction }) => {
    if (location.key === last) return;
    last = location.key;
    isNew = historyAction !== 'POP';
  });
}

/** Once the new screen is there: earlier, the old one would be painted at its top. */
export function useTop(): void {
  // For no more than to be drawn with every address.
  useLocation();
  useLayoutEffect(() => {
    if (!isNew) return;
    isNew = false;
    window.scrollTo(0, 0);
  });
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
    if (isNew !== undefined || takesFocus) heading.current?.focus({ preventScroll: true });
  }, [takesFocus]);
  return (
    <h1 ref={heading} tabIndex={-1} className={className}>
      {children ?? title}
    </h1>
  );
}
