import { useState } from 'react';
import { ActionDialog } from '../../../components/ActionDialog.tsx';
import { ChooseJoin, joinIn } from './ChooseJoin.tsx';
import type { DoingProps } from './props.ts';

/** A dialog that brings the payments of a join to the state that they have at Stripe. */
export function SettleJoin({ person, about, onClose }: DoingProps) {
  const joins = person.joins.filter(({ payments }) => payments.length > 0);
  const [number, setNumber] = useState(joinIn(about, joins));
  return (
    <ActionDialog
      isMoney
      asked={
        number === null
          ? null
          : { name: 'settleJoin', params: { id: String(person.id) }, body: { join: number } }
      }
      title="Settle with Stripe?"
      done="Settled."
      onClose={onClose}
    >
      <ChooseJoin joins={joins} number={number} onChoose={setNumber} />
    </ActionDialog>
  );
}
