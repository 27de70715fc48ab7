import { type ComponentProps, useLayoutEffect, useRef } from 'react';
import styles from './ui.module.css';

/**
 * A button. While busy it is disabled and shows the text `busy`. Its content is in an element that is replaced as a
 * whole, for pages that the browser translates (CONTRIBUTING.md, "Habits").
 */
export function Button({
  variant = 'main',
  full = false,
  busy,
  disabled,
  className,
  children,
  ...rest
}: ComponentProps<'button'> & {
  variant?: 'main' | 'second' | 'plain' | 'quiet';
  full?: boolean;
  /** The text while the button's action runs; otherwise falsy. */
  busy?: string | false | undefined;
}) {
  const button = useRef<HTMLButtonElement>(null);
  const hadFocus = useRef(false);
  const isBusy = !!busy;
  // A button loses the focus when it becomes disabled. The focus is returned when the button is enabled again, unless another
  // element has the focus by then.
  useLayoutEffect(() => {
    if (isBusy) hadFocus.current = document.activeElement === button.current;
    else if (hadFocus.current) {
      hadFocus.current = false;
      if (document.activeElement === document.body) button.current?.focus();
    }
  }, [isBusy]);
  const classes = [
    variant === 'plain' || variant === 'quiet' ? styles.plain : styles.button,
    variant === 'second' && styles.second,
    variant === 'quiet' && styles.quiet,
    full && styles.full,
    className,
  ];
  return (
    <button
      type="button"
      {...rest}
      ref={button}
      className={classes.filter(Boolean).join(' ')}
      disabled={disabled || isBusy}
      aria-busy={isBusy || undefined}
    >
      {busy && variant === 'main' && <span className={styles.busyDot} />}
      <span key={isBusy ? 'busy' : 'idle'} className={styles.content}>
        {busy || children}
      </span>
    </button>
  );
}
