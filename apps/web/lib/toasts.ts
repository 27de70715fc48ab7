import type { ToastMessage } from '#ui/Toaster.tsx';

type Toaster = { showToast: (toast: ToastMessage) => Promise<void> };

let load: () => Promise<Toaster>;

/** Sets the function that downloads the code for toasts. */
export function setToaster(download: () => Promise<Toaster>): void {
  load = download;
}

/** Downloads the code for toasts. After a failed download the next call tries again. */
export const loadToaster = () => load();

/** Shows a toast. If the code for toasts cannot be loaded, the toast is written to the console instead. */
export function raiseToast(toast: ToastMessage): void {
  loadToaster()
    .then(({ showToast }) => showToast(toast))
    .catch((error: unknown) => console.error(error, toast));
}
