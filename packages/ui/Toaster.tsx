import { Toast } from '@base-ui/react/toast';
import { type RefObject, StrictMode, useEffect, useLayoutEffect, useRef } from 'react';
import { createRoot } from 'react-dom/client';
import { buttonClass } from './Button.tsx';
import { Icon } from './icons.tsx';
import styles from './Toaster.module.css';

export interface ToastMessage {
  kind: 'success' | 'error';
  title: string;
  text: string;
  /** A further text below the text. */
  note?: string | undefined;
  /** A button below the text. Pressing it closes the toast. */
  action?: { name: string; run: () => void } | undefined;
  /** How long (ms) this toast is shown, if not the default time. */
  shownMs?: number | undefined;
}

type Show = (toast: ToastMessage) => void;

/**
 * Makes the function that shows toasts. Each is shown for `shownMs`; `close` is the name of its close button. At most `limit` are
 * visible at once, since more would cover the page; older ones are hidden until newer ones close. The first toast mounts the
 * toaster in its own React root.
 */
export function createToaster({ shownMs, close, limit }: { shownMs: number; close: string; limit: number }) {
  let mounted: Promise<Show> | undefined;
  return async (toast: ToastMessage): Promise<void> => {
    mounted ??= new Promise((resolve) => {
      createRoot(document.body.appendChild(document.createElement('div'))).render(
        <StrictMode>
          <Toast.Provider timeout={shownMs} limit={limit}>
            <Toasts close={close} onMounted={resolve} />
          </Toast.Provider>
        </StrictMode>,
      );
    });
    (await mounted)(toast);
  };
}

function Toasts({ close, onMounted }: { close: string; onMounted: (show: Show) => void }) {
  const { toasts, add, close: end } = Toast.useToastManager<Pick<ToastMessage, 'note'>>();
  useEffect(() => {
    onMounted(({ kind, title, text, note, action, shownMs }) => {
      // Equal toasts have the same id, so that a new one replaces the old one.
      const id = [kind, title, text].join();
      add({
        id,
        type: kind,
        title,
        description: text,
        data: { note },
        ...(shownMs !== undefined && { timeout: shownMs }),
        ...(action && {
          actionProps: {
            children: action.name,
            onClick: () => {
              end(id);
              action.run();
            },
          },
        }),
      });
    });
  }, [onMounted, add, end]);
  // The library pauses the timers of toasts while the window lacks the focus. The window also loses the focus to a frame in the
  // page, such as the card form, although the joiner is still on the page. To keep the timers running, this code reports to the
  // library that the window has the focus.
  useEffect(() => {
    const goOn = () => {
      if (document.hasFocus()) window.dispatchEvent(new FocusEvent('focus'));
    };
    const blurred = () => void setTimeout(goOn);
    window.addEventListener('blur', blurred);
    return () => window.removeEventListener('blur', blurred);
  }, []);
  const viewport = useRef<HTMLDivElement>(null);
  useClearance(viewport, toasts.length);
  return (
    <Toast.Viewport ref={viewport} className={styles.viewport}>
      {toasts.map((toast) => (
        <Toast.Root key={toast.id} toast={toast} swipeDirection={['right', 'up']} className={styles.toast}>
          <Toast.Content className={styles.content}>
            <span className={styles.icon}>
              <Icon name={toast.type === 'success' ? 'tick' : 'alert'} size={18} />
            </span>
            <div className={styles.words}>
              <Toast.Title className={styles.title} />
              <Toast.Description className={styles.description} />
              {toast.data?.note && <p className={styles.description}>{toast.data.note}</p>}
              {toast.actionProps && <Toast.Action className={buttonClass({ variant: 'plain' })} />}
            </div>
            {/* Overrides the library's default, which hides the button from screen readers while the toast has neither focus
                nor pointer. */}
            <Toast.Close className={buttonClass({ variant: 'close' })} aria-label={close} aria-hidden={false}>
              <Icon name="close" size={16} />
            </Toast.Close>
          </Toast.Content>
        </Toast.Root>
      ))}
    </Toast.Viewport>
  );
}

/** The space (px) between the toasts and what is above them. */
const GAP = 16;

/**
 * Keeps the toasts from covering elements that they may be about, such as a total: moves them below each element with
 * `data-keep-clear` that is in their way. These elements move when the page scrolls.
 */
function useClearance(viewport: RefObject<HTMLElement | null>, count: number): void {
  useLayoutEffect(() => {
    const box = viewport.current;
    if (!box || count === 0) return;
    const move = () => {
      const { left, right, height } = box.getBoundingClientRect();
      const kept = [...document.querySelectorAll('[data-keep-clear]')]
        .map((element) => element.getBoundingClientRect())
        .filter((place) => place.width > 0 && place.left < right && place.right > left)
        .sort((one, other) => one.top - other.top);
      let top = GAP;
      for (const place of kept) if (place.bottom > top && place.top < top + height) top = place.bottom + GAP;
      box.style.top = `${top}px`;
    };
    move();
    const size = new ResizeObserver(move);
    size.observe(box);
    const listening = new AbortController();
    for (const event of ['scroll', 'resize'])
      window.addEventListener(event, move, { passive: true, signal: listening.signal });
    return () => {
      size.disconnect();
      listening.abort();
    };
  }, [viewport, count]);
}
