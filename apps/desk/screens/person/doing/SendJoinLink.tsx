import { useState } from 'react';
import { ActionDialog } from '../../../components/ActionDialog.tsx';
import { ChooseJoin, joinIn } from './ChooseJoin.tsx';
import type { DoingProps } from './props.ts';

/** A dialog that mails the link to a join to its joiner. */
export function SendJoinLink({ person, about, onClose }: DoingProps) {
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
