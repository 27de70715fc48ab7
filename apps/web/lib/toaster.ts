import { TOAST_MS } from '#core/specified.ts';
import { createToaster } from '#ui/Toaster.tsx';

/** Shows a toast; more than three would cover the form. Downloaded when it is first needed (toasts.ts). */
export const showToast = createToaster({ shownMs: TOAST_MS, close: 'Close', limit: 3 });
