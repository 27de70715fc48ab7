import { createToaster } from '#ui/Toaster.tsx';

export const showToast = createToaster({ shownMs: 8_000, close: 'Close' });
