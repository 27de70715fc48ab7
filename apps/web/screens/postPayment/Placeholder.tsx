import { sharedValue } from '#ui/sharedValue.ts';
import { PageLoader } from '../../components/PageLoader.tsx';

/** Whether the bank has taken so long that the page explains the wait. */
export const bankIsSlow = sharedValue(false);

/** Shown while the loader waits for the payment's outcome. */
export function Placeholder() {
  const text = bankIsSlow.use()
    ? 'Your bank is still deciding on this payment. This page continues by itself…'
    : 'Confirming your payment…';
  return <PageLoader title="Payment" text={text} isTitleShown />;
}
