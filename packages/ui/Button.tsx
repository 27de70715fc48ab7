import { type ComponentProps, useLayoutEffect, useRef } from 'react';
import styles from './Button.module.css';
import { Spinner } from './Spinner.tsx';

interface Look {
  /** `main` and `second` look like boxes, `plain` and `quiet` like text, and `close` is an icon in a corner. */
  variant?: 'main' | 'second' | 'plain' | 'quiet' | 'close';
  full?: boolean | undefined;
  slim?: boolean | undefined;
  className?: string | undefined;
}

const looks = {
  main: styles.button,
  second: `${styles.button} ${styles.second}`,
  plain: styles.plain,
  quiet: `${styles.plain} ${styles.quiet}`,
  close: styles.close,
};

/** Returns the class of an element that looks like a button, such as a link. */
export function buttonClass({ variant = 'main', full, slim, className }: Look = {}): string {
  return [looks[variant], full && styles.full, slim && styles.slim, className].filter(Boolean).join(' ');
}

/**
 * A button. While busy it is disabled and shows the text `busy`. Its content is in an element that is replaced as a
 * whole, for pages that the browser translates (CONTRIBUTING.md, "Habits").
 */
export function Button({
  variant = 'main',
  full,
  slim,
  busy,
  disabled,
  className,
  children,
  ...rest
}: ComponentProps<'button'> &
  Look & {
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
  return (
    <button
      type="button"
      {...rest}
      ref={button}
      className={buttonClass({ variant, full, slim, className })}
      disabled={disabled || isBusy}
      aria-busy={isBusy || undefined}
    >
      {busy && variant === 'main' && <Spinner size="small" />}
      <span key={isBusy ? 'busy' : 'idle'} className={styles.content}>
        {busy || children}
      </span>
    </button>
  );
}
