import type { ComponentProps, MouseEvent } from 'react';
import { useNavigate } from 'react-router';

/**
 * A link inside the app. React Router's own brings what only server rendering needs, 4 kB of the first load; the
 * app has no base path and no relative links, so this is all that is left of it.
 */
export function Link({ to, onClick, ...rest }: ComponentProps<'a'> & { to: string }) {
  const navigate = useNavigate();
  function follow(event: MouseEvent<HTMLAnchorElement>) {
    onClick?.(event);
    const plain = event.button === 0 && !event.metaKey && !event.altKey && !event.ctrlKey && !event.shiftKey;
    if (event.defaultPrevented || !plain) return;
    event.preventDefault();
    void navigate(to);
  }
  return <a {...rest} href={to} onClick={follow} />;
}
