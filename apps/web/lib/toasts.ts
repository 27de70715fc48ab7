/** Toasts wait here until the component that shows them has been downloaded: it is fetched when first needed. */
export interface ToastMessage {
  kind: 'success' | 'error';
  title: string;
  text: string;
  /** Of a failure of the server's own: what staff find it by. */
  reference?: string | undefined;
}

type Show = (toast: ToastMessage) => void;

let waiting: ToastMessage[] = [];
let show: Show | null = null;
let wanted: (() => void) | null = null;

export function raiseToast(toast: ToastMessage): void {
  if (show) show(toast);
  else {
    waiting.push(toast);
    wanted?.();
  }
}

/** The layout's wish to hear when a toast is first needed. */
export function onFirstToast(callback: () => void): () => void {
  wanted = callback;
  if (waiting.length > 0) callback();
  return () => {
    wanted = null;
  };
}

/** The toaster is there: it gets what waited and everything after. */
export function connectToaster(next: Show): () => void {
  show = next;
  for (const toast of waiting) next(toast);
  waiting = [];
  return () => {
    show = null;
  };
}
