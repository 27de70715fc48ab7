import { useState } from 'react';
import { ActionDialog } from '../../../components/ActionDialog.tsx';
import type { PersonData } from '../loadPerson.ts';
import { ChooseJoin, joinIn } from './ChooseJoin.tsx';

/** Mails the link to a join to its joiner. */
export function SendJoinLink({
  person,
  about,
  onClose,
}: {
  person: PersonData;
  about: URLSearchParams;
  onClose: () => void;
}) {
  const joins = person.joins.filter(({ isErased }) => !isErased);
  const [number, setNumber] = useState(joinIn(about, joins));
  return (
    <ActionDialog
      asked={
        number === null
          ? null
          : { name: 'sendJoinLink', params: { id: String(person.id) }, body: { join: number } }
      }
      title="Send the join's link?"
      done="The link will be sent."
      onClose={onClose}
    >
      <ChooseJoin joins={joins} number={number} onChoose={setNumber} />
    </ActionDialog>
  );
}
