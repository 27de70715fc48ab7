import { hasRightsOf } from '#core/staff.ts';
import { ActionDialog } from '../../../components/ActionDialog.tsx';
import { AssignRefund } from '../../../components/AssignRefund.tsx';
import { RefundPayment } from '../../../components/RefundPayment.tsx';
import { useMe } from '../../../lib/me.ts';
import { useDoing } from '../../../lib/useDoing.ts';
import type { PersonData } from '../loadPerson.ts';
import { AddTranscript } from './AddTranscript.tsx';
import { Certificate } from './Certificate.tsx';
import { DeclineRefund } from './DeclineRefund.tsx';
import { LinkContact } from './LinkContact.tsx';
import { MakeLink } from './MakeLink.tsx';
import { RefundJoin } from './RefundJoin.tsx';
import { SendJoinLink } from './SendJoinLink.tsx';
import { SendLetter } from './SendLetter.tsx';
import { SettleJoin } from './SettleJoin.tsx';

/** The dialog of the action in the URL. Shows nothing if there is none, or if the user's role may not do it. */
export default function Doing({ person }: { person: PersonData }) {
  const { doing, about, stop } = useDoing();
  const isFinance = hasRightsOf(useMe().role, 'finance');
  const on = { person, about, onClose: stop };
  if (isFinance)
    switch (doing) {
      case 'refund':
        return <RefundJoin {...on} />;
      case 'decline-refund':
        return <DeclineRefund {...on} />;
      case 'refund-payment':
        return <RefundPayment payment={about.get('payment') ?? ''} onClose={stop} />;
      case 'assign':
        return <AssignRefund refund={about.get('refund') ?? ''} onClose={stop} />;
      case 'settle':
        return <SettleJoin {...on} />;
    }
  const letter = person.letters.find(({ id }) => id === about.get('letter'));
  const params = { id: String(person.id) };
  switch (doing) {
    case 'send-letter':
      return letter ? <SendLetter person={person} letter={letter} onClose={stop} /> : null;
    case 'send-link':
      return <SendJoinLink {...on} />;
    case 'certificate':
      return <Certificate {...on} />;
    case 'add-transcript':
      return <AddTranscript {...on} />;
    case 'link-contact':
      return <LinkContact {...on} />;
    case 'join':
      return (
        <ActionDialog
          asked={{ name: 'joinPersons', params, body: { other: Number(about.get('other')) } }}
          title="Are they one person?"
          done="They are one person."
          onClose={stop}
        />
      );
    case 'keep-apart':
      return (
        <ActionDialog
          asked={{ name: 'keepApart', params, body: { other: Number(about.get('other')) } }}
          title="Are they two?"
          done="They are kept apart."
          onClose={stop}
        />
      );
    case 'retry-hubspot':
      return (
        <ActionDialog
          asked={{ name: 'retryAtHubspot', body: { person: person.id } }}
          title="Send to HubSpot again?"
          done="It is sent again."
          onClose={stop}
        />
      );
    case 'make-link':
      return <MakeLink person={person} onClose={stop} />;
    case 'stop-reminders':
      return (
        <ActionDialog
          asked={{ name: 'stopReminders', params, body: {} }}
          title="Stop reminders?"
          done="Reminders are stopped."
          onClose={stop}
        />
      );
    case 'end-links':
      return (
        <ActionDialog
          asked={{ name: 'endLinks', params, body: {} }}
          title="End links already sent?"
          done="The links have ended."
          onClose={stop}
        />
      );
  }
  return null;
}
