export interface ToastMessage {
  kind: 'success' | 'error';
  title: string;
  text: string;
  /** By which staff find a failure of the server (`Failure['reference']`). */
  reference?: string | undefined;
}

/** Downloads what shows toasts. After a failed download the next call tries again. */
export const loadToaster = () => import(/* webpackChunkName: "toaster" */ '../components/Toaster.tsx');

/** Shows a toast. Without the code that shows it, the toast is only logged. */
export function raiseToast(toast: ToastMessage): void {
  loadToaster()
    .then(({ showToast }) => showToast(toast))
    .catch((error: unknown) => console.error(error, toast));
}
