import { hasRightsOf } from '#core/staff.ts';
import { useMe } from '../../../lib/me.ts';
import type { PersonData } from '../loadPerson.ts';
import { useDoing } from '../useDoing.ts';
import { AssignRefund } from './AssignRefund.tsx';
import { RefundJoin } from './RefundJoin.tsx';
import { RefundPayment } from './RefundPayment.tsx';
import { SettleJoin } from './SettleJoin.tsx';

/** The dialog of the action that the address names; nothing if it names none, or one for another role. */
export function Doing({ person }: { person: PersonData }) {
  const { doing, about, stop } = useDoing();
  const isFinance = hasRightsOf(useMe().role, 'finance');
  const on = { person, about, onClose: stop };
  if (isFinance)
    switch (doing) {
      case 'refund':
        return <RefundJoin {...on} />;
      case 'refund-payment':
        return <RefundPayment payment={about.get('payment') ?? ''} onClose={stop} />;
      case 'assign':
        return <AssignRefund refund={about.get('refund') ?? ''} onClose={stop} />;
      case 'settle':
        return <SettleJoin {...on} />;
    }
  return null;
}
