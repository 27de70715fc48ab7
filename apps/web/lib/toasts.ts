export interface ToastMessage {
  kind: 'success' | 'error';
  title: string;
  text: string;
  /** Identifies a failure of the server for staff (`Failure['reference']`). */
  reference?: string | undefined;
}

type Toaster = { showToast: (toast: ToastMessage) => Promise<void> };

let load: () => Promise<Toaster>;

/** Sets the function that downloads the code that shows toasts. */
export function setToaster(download: () => Promise<Toaster>): void {
  load = download;
}

/** Downloads the code that shows toasts. After a failed download the next call tries again. */
export const loadToaster = () => load();

/** Shows a toast. If the code for that cannot be loaded, the toast is only logged. */
export function raiseToast(toast: ToastMessage): void {
  loadToaster()
    .then(({ showToast }) => showToast(toast))
    .catch((error: unknown) => console.error(error, toast));
}
