import { createToaster } from '#ui/Toaster.tsx';

/**
 * Shows a toast. Only one at a time: a toast after a decision on a transcript stays for a minute to offer Undo, and two of them
 * would cover the buttons for the next transcript on a phone.
 */
export const showToast = createToaster({ shownMs: 8_000, close: 'Close', limit: 1 });
