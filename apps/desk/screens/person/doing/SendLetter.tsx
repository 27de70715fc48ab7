import { useState } from 'react';
import { TextField } from '#ui/Field.tsx';
import { ActionDialog } from '../../../components/ActionDialog.tsx';
import type { PersonData } from '../loadPerson.ts';

/** A dialog that sends a letter again, to the same email or to another one. */
export function SendLetter({
  person,
  letter,
  onClose,
}: {
  person: PersonData;
  letter: PersonData['letters'][number];
  onClose: () => void;
}) {
  const [to, setTo] = useState('');
  return (
    <ActionDialog
      asked={{
        name: 'sendLetter',
        params: { id: String(person.id) },
        body: { letter: letter.id, to: to.trim() || null },
      }}
      title={`Send “${letter.kind}” again?`}
      done="The letter will be sent again."
      onClose={onClose}
    >
      <TextField
        id="to"
        label="To another address"
        optional
        inputMode="email"
        autoCapitalize="none"
        autoComplete="off"
        value={to}
        onChange={({ target }) => setTo(target.value)}
      />
    </ActionDialog>
  );
}
