import { useState } from 'react';
import { TextField } from '#ui/Field.tsx';
import { ActionDialog } from '../../../components/ActionDialog.tsx';
import type { DoingProps } from './props.ts';

/** A dialog that records that a person is another contact in HubSpot. */
export function LinkContact({ person, about, onClose }: DoingProps) {
  const [contact, setContact] = useState(about.get('contact') ?? '');
  const isId = /^\d{1,20}$/.test(contact);
  return (
    <ActionDialog
      asked={isId ? { name: 'linkContact', params: { id: String(person.id) }, body: { contact } } : null}
      title="Link to a contact"
      done="The person and the contact are one."
      onClose={onClose}
    >
      <TextField
        id="contact"
        label="Contact id"
        hint="The number at the end of the contact's address in HubSpot."
        inputMode="numeric"
        autoComplete="off"
        value={contact}
        error={contact === '' || isId ? undefined : 'A contact id has digits only.'}
        onChange={({ target }) => setContact(target.value.trim())}
      />
    </ActionDialog>
  );
}
