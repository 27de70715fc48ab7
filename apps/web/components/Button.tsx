import type { ComponentProps } from 'react';
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
      className={classes.filter(Boolean).join(' ')}
      disabled={disabled || !!busy}
      aria-busy={busy ? true : undefined}
    >
      {busy && look === 'main' && <span className={styles.busyDot} />}
      {busy || children}
    </button>
  );
}
