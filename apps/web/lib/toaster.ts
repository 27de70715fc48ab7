import { TOAST_MS } from '#core/specified.ts';
import { createToaster } from '#ui/Toaster.tsx';

/** Shows a toast. Downloaded when it is first needed (toasts.ts). */
export const showToast = createToaster({ shownMs: TOAST_MS, close: 'Close' });
