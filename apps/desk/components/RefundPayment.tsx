import { ActionDialog } from './ActionDialog.tsx';

/** Gives back all that is left of a payment, such as one that bought nothing. */
export function RefundPayment({ payment, onClose }: { payment: string; onClose: () => void }) {
  return (
    <ActionDialog
      isMoney
      asked={{ name: 'refundPayment', params: { id: payment }, body: {} }}
      title="Give this payment back?"
      done="The refund is decided."
      onClose={onClose}
    />
  );
}
