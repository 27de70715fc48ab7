import { useState } from 'react';
import { TextArea } from '#ui/Field.tsx';
import { ActionDialog } from '../../../components/ActionDialog.tsx';
import type { DoingProps } from './props.ts';

/** A dialog that declines a member's refund request, with a sentence that is sent to the member by letter. */
export function DeclineRefund({ person, about, onClose }: DoingProps) {
  const [sentence, setSentence] = useState('');
  const join = Number(about.get('join'));
  const isWritten = sentence.trim() !== '';
  return (
    <ActionDialog
      asked={
        isWritten
          ? { name: 'declineRefund', params: { id: String(person.id) }, body: { join, sentence } }
          : null
      }
      title="Decline the refund?"
      done="The request is declined, and the member is told."
      onClose={onClose}
    >
      <TextArea
        id="sentence"
        label="Why"
        hint="The member gets these words in a letter."
        value={sentence}
        maxLength={1000}
        onChange={({ target }) => setSentence(target.value)}
      />
    </ActionDialog>
  );
}
