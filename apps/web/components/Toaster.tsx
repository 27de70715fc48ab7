import { Toast } from '@base-ui/react/toast';
import { type RefObject, StrictMode, useEffect, useLayoutEffect, useRef } from 'react';
import { createRoot } from 'react-dom/client';
import { TOAST_MS } from '#core/specified.ts';
import type { ToastMessage } from '../lib/toasts.ts';
import { Icon } from './screenIcons.tsx';
import styles from './Toaster.module.css';
import ui from './ui.module.css';

/** The most visible toasts. More would cover the form, so the oldest are hidden. */
const LIMIT = 3;

type Show = (toast: ToastMessage) => void;
type ToastData = Pick<ToastMessage, 'reference'>;

let mounted: Promise<Show> | undefined;

/** Shows a toast. The first toast mounts the toaster in a React root of its own. */
export async function showToast(toast: ToastMessage): Promise<void> {
  mounted ??= new Promise((resolve) => {
    createRoot(document.body.appendChild(document.createElement('div'))).render(
      <StrictMode>
        <Toast.Provider timeout={TOAST_MS} limit={LIMIT}>
          <Toasts onMounted={resolve} />
        </Toast.Provider>
      </StrictMode>,
    );
  });
  (await mounted)(toast);
}

function Toasts({ onMounted }: { onMounted: (show: Show) => void }) {
  const { toasts, add } = Toast.useToastManager<ToastData>();
  useEffect(() => {
    onMounted(({ kind, title, text, reference }) =>
      // Equal toasts have the same id, so that a new one replaces the old one.
      add({ id: [kind, title, text].join(), type: kind, title, description: text, data: { reference } }),
    );
  }, [onMounted, add]);
  // The library pauses the timers of toasts while the window lacks the focus. The window also loses the focus to a frame of the
  // page, such as the card form, although the joiner is still on the page. The timers must then go on, so the library is told
  // that the window has the focus.
  useEffect(() => {
    const goOn = () => {
      if (document.hasFocus()) window.dispatchEvent(new FocusEvent('focus'));
    };
    const blurred = () => void setTimeout(goOn);
    window.addEventListener('blur', blurred);
    return () => window.removeEventListener('blur', blurred);
  }, []);
  const viewport = useRef<HTMLDivElement>(null);
  useClearOfTotals(viewport, toasts.length);
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
              {toast.data?.reference && (
                <p className={styles.description}>{`Reference: ${toast.data.reference}`}</p>
              )}
            </div>
            {/* Overrides the library's default, which hides the button from screen readers while the toast has neither focus
                nor pointer. */}
            <Toast.Close className={ui.close} aria-label="Close" aria-hidden={false}>
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
 * Keeps the toasts from covering a total (`data-total`), which they may be about: moves them below each total that is in their way.
 * The totals move when the page scrolls.
 */
function useClearOfTotals(viewport: RefObject<HTMLElement | null>, count: number): void {
  useLayoutEffect(() => {
    const box = viewport.current;
    if (!box || count === 0) return;
    const place = () => {
      const { left, right, height } = box.getBoundingClientRect();
      const totals = [...document.querySelectorAll('[data-total]')]
        .map((total) => total.getBoundingClientRect())
        .filter((total) => total.width > 0 && total.left < right && total.right > left)
        .sort((one, other) => one.top - other.top);
      let top = GAP;
      for (const total of totals)
        if (total.bottom > top && total.top < top + height) top = total.bottom + GAP;
      box.style.top = `${top}px`;
    };
    place();
    const size = new ResizeObserver(place);
    size.observe(box);
    const listening = new AbortController();
    for (const event of ['scroll', 'resize'])
      window.addEventListener(event, place, { passive: true, signal: listening.signal });
    return () => {
      size.disconnect();
      listening.abort();
    };
  }, [viewport, count]);
}
