import { useState } from 'react';
import { useRevalidator } from 'react-router';
import { messageOf } from '#client/failures.ts';
import { NOTE_MAX_LENGTH } from '#core/staff.ts';
import { Alert } from '#ui/Alert.tsx';
import { Button } from '#ui/Button.tsx';
import { TextArea } from '#ui/Field.tsx';
import { Form } from '#ui/Form.tsx';
import { call } from '../../lib/call.ts';
import { showToast } from '../../lib/toaster.ts';
import styles from './Person.module.css';

const NOT_ADDED = 'The note may not be added. Look at the story below before you try again.';
const NOTHING = 'Write what is to be noted.';

/** A form to add a note about a person. The typed text is kept until the note is added. */
export function AddNote({ id }: { id: number }) {
  const { revalidate } = useRevalidator();
  const [text, setText] = useState('');
  const [isBusy, setBusy] = useState(false);
  const [fault, setFault] = useState<string | null>(null);
  const isEmpty = text.trim() === '';
  const add = async () => {
    if (isBusy) return;
    if (isEmpty) {
      setFault(NOTHING);
      document.getElementById('note')?.focus();
      return;
    }
    setBusy(true);
    setFault(null);
    try {
      await call('addNote', { params: { id: String(id) }, body: { text } });
      setText('');
      void showToast({ kind: 'success', title: 'The note is added.', text: '' });
    } catch (error) {
      setFault(messageOf(error, NOT_ADDED));
    }
    setBusy(false);
    await revalidate();
  };
  return (
    <Form className={styles.note} onSubmit={add}>
      {fault !== null && !isEmpty && <Alert isAnswer>{fault}</Alert>}
      <TextArea
        id="note"
        label="Note"
        hint="Staff alone see it, and the person if they ask for their data."
        error={isEmpty && fault}
        maxLength={NOTE_MAX_LENGTH}
        value={text}
        readOnly={isBusy}
        onChange={({ target }) => {
          setText(target.value);
          setFault(null);
        }}
      />
      <Button type="submit" variant="second" slim busy={isBusy && 'Adding…'}>
        Add a note
      </Button>
    </Form>
  );
}
