import { useState } from 'react';
import { useRevalidator } from 'react-router';
import { messageOf } from '#client/failures.ts';
import { Alert } from '#ui/Alert.tsx';
import { Button } from '#ui/Button.tsx';
import { FieldFrame, fieldAttributes, inputClass } from '#ui/Field.tsx';
import { Stack } from '#ui/Text.tsx';
import styles from '../../../components/Dialog.module.css';
import { Dialog, DialogButtons } from '../../../components/Dialog.tsx';
import { sendFile } from '../../../lib/files.ts';
import { showToast } from '../../../lib/toaster.ts';
import { takesTranscripts } from '../joins.ts';
import { ChooseJoin, joinIn } from './ChooseJoin.tsx';
import type { DoingProps } from './props.ts';

const field = {
  id: 'transcript',
  label: 'Transcript',
  hint: 'PDF, Word, JPEG or PNG. It is checked as if the joiner had uploaded it, and waits for a decision.',
};
const NOT_ADDED = 'The transcript may not be added. Look at the documents before you try again.';

/** A dialog that adds a transcript, which arrived by mail, to a join. */
export function AddTranscript({ person, about, onClose }: DoingProps) {
  const { revalidate } = useRevalidator();
  const joins = person.joins.filter(takesTranscripts);
  const [number, setNumber] = useState(joinIn(about, joins));
  const [file, setFile] = useState<File | null>(null);
  const [isBusy, setBusy] = useState(false);
  const [fault, setFault] = useState<string | null>(null);
  const add = async () => {
    if (number === null || isBusy) return;
    if (!file) {
      setFault('Choose a file.');
      return;
    }
    setBusy(true);
    setFault(null);
    try {
      const { name } = await sendFile('addTranscript', { id: String(person.id) }, file, {
        join: String(number),
        name: file.name,
      });
      void showToast({ kind: 'success', title: 'The transcript is added.', text: name });
      onClose();
      await revalidate();
    } catch (error) {
      setFault(messageOf(error, NOT_ADDED));
      setBusy(false);
    }
  };
  return (
    <Dialog wide title="Add a transcript" onClose={onClose}>
      <Stack>
        {number === null && <Alert>No join of this person is paid, so none takes a transcript.</Alert>}
        {fault !== null && <Alert isAnswer>{fault}</Alert>}
        <div className={styles.fields}>
          <ChooseJoin joins={joins} number={number} onChoose={setNumber} />
          <FieldFrame {...field}>
            <input
              type="file"
              className={inputClass}
              accept=".pdf,.doc,.docx,.jpg,.jpeg,.png"
              {...fieldAttributes(field)}
              onChange={({ target }) => setFile(target.files?.[0] ?? null)}
            />
          </FieldFrame>
        </div>
      </Stack>
      <DialogButtons>
        <Button variant="second" slim onClick={onClose}>
          Cancel
        </Button>
        <Button slim disabled={number === null} busy={isBusy && 'Adding…'} onClick={() => void add()}>
          Add the transcript
        </Button>
      </DialogButtons>
    </Dialog>
  );
}
