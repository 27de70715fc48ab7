export interface ToastMessage {
  kind: 'success' | 'error';
  title: string;
  text: string;
  /** Identifies a failure of the server for staff (`Failure['reference']`). */
  reference?: string | undefined;
}

type Toaster = { showToast: (toast: ToastMessage) => Promise<void> };

let load: () => Promise<Toaster>;

/** Says how to download what shows toasts. */
export function setToaster(download: () => Promise<Toaster>): void {
  load = download;
}

/** Downloads what shows toasts. After a failed download the next call tries again. */
export const loadToaster = () => load();

/** Shows a toast. Without the code that shows it, the toast is only logged. */
export function raiseToast(toast: ToastMessage): void {
  loadToaster()
    .then(({ showToast }) => showToast(toast))
    .catch((error: unknown) => console.error(error, toast));
}
