import { Toast } from '@base-ui/react/toast';
import { useEffect } from 'react';
import { connectToaster } from '../toasts.ts';
import { Icon } from './icons.tsx';
import styles from './Toaster.module.css';

/** Specification, section 9: a toast disappears after 5 seconds. */
const TOAST_MS = 5000;

type Kind = 'success' | 'error';

export function Toaster() {
  return (
    <Toast.Provider timeout={TOAST_MS} limit={3}>
      <Connection />
      <Toast.Portal>
        <Toast.Viewport className={styles.viewport}>
          <List />
        </Toast.Viewport>
      </Toast.Portal>
    </Toast.Provider>
  );
}

function Connection() {
  const { add } = Toast.useToastManager();
  useEffect(
    () => connectToaster(({ kind, title, text }) => void add({ type: kind, title, description: text })),
    [add],
  );
  return null;
}

function List() {
  const { toasts, close } = Toast.useToastManager();
  return toasts.map((toast) => {
    const kind: Kind = toast.type === 'success' ? 'success' : 'error';
    return (
      <Toast.Root
        key={toast.id}
        toast={toast}
        className={styles.toast}
        data-kind={kind}
        swipeDirection={['right', 'up']}
      >
        <Toast.Content className={styles.content}>
          <span className={styles.icon}>
            <Icon name={kind === 'success' ? 'tick' : 'alert'} size={18} />
          </span>
          <div className={styles.words}>
            <Toast.Title className={styles.title} />
            <Toast.Description className={styles.description} />
          </div>
          {/* Not Toast.Close: that one is hidden from screen readers until the toast has the pointer or the focus. */}
          <button type="button" className={styles.close} aria-label="Close" onClick={() => close(toast.id)}>
            <Icon name="close" size={16} />
          </button>
        </Toast.Content>
      </Toast.Root>
    );
  });
}
