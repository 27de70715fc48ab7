import { type PointerEvent, startTransition, useEffect, useRef, useState } from 'react';
import { createPortal } from 'react-dom';
import { connectToaster, type ToastMessage } from '../lib/toasts.ts';
import { Icon } from './icons.tsx';
import styles from './Toaster.module.css';

/** Specification, section 9: a toast disappears after 5 seconds. */
const TOAST_MS = 5000;
/** More would cover the form: the oldest go. */
const LIMIT = 3;
/** Pixels to the right or up that mean it. */
const SWIPE = 40;

interface Shown extends ToastMessage {
  id: number;
}

/** What is said again takes the place of what was said, also under another reference. */
function saysTheSame(one: ToastMessage, other: ToastMessage): boolean {
  return one.kind === other.kind && one.title === other.title && one.text === other.text;
}

/**
 * Time stands still while the pointer or the focus is on a toast, or another window is in use. F6 brings the focus here from
 * anywhere, and closing brings it back.
 */
export function Toaster() {
  const [toasts, setToasts] = useState<readonly Shown[]>([]);
  const [held, setHeld] = useState({ pointer: false, focus: false, away: false });
  const hold = (change: Partial<typeof held>) => setHeld((now) => ({ ...now, ...change }));
  const region = useRef<HTMLElement>(null);
  const cameFrom = useRef<EventTarget | null>(null);
  const count = useRef(0);
  useEffect(
    () =>
      connectToaster((toast) => {
        const id = ++count.current;
        // After the screen that it comes with.
        startTransition(() =>
          setToasts((now) =>
            [{ ...toast, id }, ...now.filter((one) => !saysTheSame(one, toast))].slice(0, LIMIT),
          ),
        );
      }),
    [],
  );
  useEffect(() => {
    const listening = new AbortController();
    const { signal } = listening;
    window.addEventListener('blur', () => setHeld((now) => ({ ...now, away: true })), { signal });
    window.addEventListener('focus', () => setHeld((now) => ({ ...now, away: false })), { signal });
    window.addEventListener('keydown', ({ key }) => key === 'F6' && region.current?.focus(), { signal });
    return () => listening.abort();
  }, []);

  function remove(id: number) {
    const hadFocus = region.current?.contains(document.activeElement);
    // The browser does not say that pointer and focus left what is no longer there.
    hold({ pointer: false, focus: false });
    setToasts((now) => now.filter((toast) => toast.id !== id));
    if (hadFocus && cameFrom.current instanceof HTMLElement) cameFrom.current.focus();
  }

  return createPortal(
    <section
      ref={region}
      className={styles.viewport}
      aria-label="Notifications"
      aria-live="polite"
      aria-relevant="additions text"
      tabIndex={-1}
      onPointerEnter={() => hold({ pointer: true })}
      onPointerLeave={() => hold({ pointer: false })}
      onFocus={({ relatedTarget }) => {
        if (!region.current?.contains(relatedTarget)) cameFrom.current = relatedTarget;
        hold({ focus: true });
      }}
      onBlur={() => hold({ focus: false })}
    >
      {toasts.map((toast) => (
        <Toast
          key={toast.id}
          toast={toast}
          held={held.pointer || held.focus || held.away}
          onGone={() => remove(toast.id)}
        />
      ))}
    </section>,
    document.body,
  );
}

function Toast({ toast, held, onGone }: { toast: Shown; held: boolean; onGone: () => void }) {
  const { id, kind, title, text, reference } = toast;
  const [leaving, setLeaving] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  const left = useRef(TOAST_MS);
  const gone = useRef(onGone);
  gone.current = onGone;
  useEffect(() => {
    if (held || leaving) return;
    const began = Date.now();
    const timer = setTimeout(() => setLeaving(true), left.current);
    return () => {
      clearTimeout(timer);
      left.current -= Date.now() - began;
    };
  }, [held, leaving]);
  useEffect(() => {
    if (!leaving) return;
    const moving = box.current?.getAnimations() ?? [];
    void Promise.allSettled(moving.map(({ finished }) => finished)).then(() => gone.current());
  }, [leaving]);
  const swipe = useSwipe(() => setLeaving(true));
  return (
    <div
      ref={box}
      className={styles.toast}
      data-kind={kind}
      data-leaving={leaving || undefined}
      role="dialog"
      aria-modal="false"
      aria-labelledby={`toast-${id}-title`}
      aria-describedby={`toast-${id}-text`}
      onKeyDown={({ key }) => key === 'Escape' && setLeaving(true)}
      {...swipe}
    >
      <div className={styles.content}>
        <span className={styles.icon}>
          <Icon name={kind === 'success' ? 'tick' : 'alert'} size={18} />
        </span>
        <div className={styles.words}>
          <h2 className={styles.title} id={`toast-${id}-title`}>
            {title}
          </h2>
          <p className={styles.description} id={`toast-${id}-text`}>
            {text}
          </p>
          {reference && <p className={styles.description}>Reference: {reference}</p>}
        </div>
        <button type="button" className={styles.close} aria-label="Close" onClick={() => setLeaving(true)}>
          <Icon name="close" size={16} />
        </button>
      </div>
    </div>
  );
}

/** With a finger, a toast follows to the right or up, and goes when it was meant. */
function useSwipe(onSwiped: () => void) {
  const from = useRef<{ x: number; y: number } | null>(null);
  const moved = ({ clientX, clientY }: PointerEvent) => ({
    x: from.current ? Math.max(0, clientX - from.current.x) : 0,
    y: from.current ? Math.min(0, clientY - from.current.y) : 0,
  });
  const follow = ({ style }: HTMLElement, x: number, y: number) => {
    style.translate = x || y ? `${x}px ${y}px` : '';
  };
  function end(event: PointerEvent<HTMLElement>) {
    const { x, y } = moved(event);
    from.current = null;
    if (x > SWIPE || -y > SWIPE) onSwiped();
    else follow(event.currentTarget, 0, 0);
  }
  return {
    onPointerDown({ pointerType, clientX, clientY }: PointerEvent) {
      if (pointerType === 'touch') from.current = { x: clientX, y: clientY };
    },
    onPointerMove(event: PointerEvent<HTMLElement>) {
      const { x, y } = moved(event);
      if (from.current) follow(event.currentTarget, x, y);
    },
    onPointerUp: end,
    onPointerCancel: end,
  };
}
