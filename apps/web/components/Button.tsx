import { type ComponentProps, useLayoutEffect, useRef } from 'react';
import styles from './ui.module.css';

/** The main button of a screen. While busy it says so in words and cannot be pressed again. */
export function Button({
  look = 'main',
  full = false,
  busy,
  disabled,
  className,
  children,
  ...rest
}: ComponentProps<'button'> & {
  look?: 'main' | 'second' | 'plain' | 'quiet';
  full?: boolean;
  /** What the button says while it is at work; absent when it is not. */
  busy?: string | false | undefined;
}) {
  const button = useRef<HTMLButtonElement>(null);
  const hadFocus = useRef(false);
  const isBusy = !!busy;
  // A disabled button loses the focus; when it comes back, so does the focus, unless it has gone elsewhere.
  useLayoutEffect(() => {
    if (isBusy) hadFocus.current = document.activeElement === button.current;
    else if (hadFocus.current) {
      hadFocus.current = false;
      if (document.activeElement === document.body) button.current?.focus();
    }
  }, [isBusy]);
  const classes = [
    look === 'plain' || look === 'quiet' ? styles.plain : styles.button,
    look === 'second' && styles.second,
    look === 'quiet' && styles.quiet,
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
      {busy && look === 'main' && <span className={styles.busyDot} />}
      {busy || children}
    </button>
  );
}
