import { ActionDialog } from './ActionDialog.tsx';

/** A dialog that refunds all that is left of a payment, for example of one that bought nothing. */
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
