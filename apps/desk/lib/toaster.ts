import { createToaster } from '#ui/Toaster.tsx';

/** A decision on a transcript can be undone for a minute, so on a phone two toasts would lie on the buttons of the next one. */
export const showToast = createToaster({ shownMs: 8_000, close: 'Close', limit: 1 });
