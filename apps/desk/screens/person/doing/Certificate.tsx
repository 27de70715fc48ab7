import { useState } from 'react';
import { messageOf } from '#client/failures.ts';
import { Alert } from '#ui/Alert.tsx';
import { Button } from '#ui/Button.tsx';
import { TextField } from '#ui/Field.tsx';
import { SelectField } from '#ui/SelectField.tsx';
import { Stack } from '#ui/Text.tsx';
import styles from '../../../components/Dialog.module.css';
import { Dialog, DialogButtons } from '../../../components/Dialog.tsx';
import { takeFile } from '../../../lib/call.ts';
import { saveFile } from '../../../lib/saveFile.ts';
import { isHeld } from '../joins.ts';
import { ChooseJoin, joinIn } from './ChooseJoin.tsx';
import type { DoingProps } from './props.ts';

const NOT_MADE = 'The certificate could not be made. Please try again.';

/** A dialog that downloads a certificate, with another spelling of the name if the member has asked for one. */
export function Certificate({ person, about, onClose }: DoingProps) {
  const joins = person.joins.filter(isHeld);
  const [number, setNumber] = useState(joinIn(about, joins));
  const [name, setName] = useState('');
  const [paper, setPaper] = useState('');
  const [isBusy, setBusy] = useState(false);
  const [fault, setFault] = useState<string | null>(null);
  const download = async () => {
    if (number === null) return;
    setBusy(true);
    setFault(null);
    try {
      const query = {
        join: number,
        ...(name.trim() !== '' && { name: name.trim() }),
        ...(paper !== '' && { paper: paper as 'letter' | 'a4' }),
      };
      const bytes = await takeFile('getCertificate', { params: { id: String(person.id) }, query });
      saveFile(new Blob([bytes], { type: 'application/pdf' }), 'certificate.pdf');
    } catch (error) {
      setFault(messageOf(error, NOT_MADE));
    }
    setBusy(false);
  };
  return (
    <Dialog wide title="Certificate" onClose={onClose}>
      <Stack>
        {number === null && <Alert>This person has no membership.</Alert>}
        {fault !== null && <Alert isAnswer>{fault}</Alert>}
        <div className={styles.fields}>
          <ChooseJoin joins={joins} number={number} onChoose={setNumber} />
          <TextField
            id="name"
            label="Name"
            optional
            hint="Another spelling, if the member has asked for one."
            placeholder={person.name ?? ''}
            maxLength={200}
            autoComplete="off"
            value={name}
            onChange={({ target }) => setName(target.value)}
          />
          <SelectField
            id="paper"
            label="Paper"
            value={paper}
            placeholder="As the member's country has it"
            options={[
              { value: 'letter', label: 'Letter' },
              { value: 'a4', label: 'A4' },
            ]}
            onChange={({ target }) => setPaper(target.value)}
          />
        </div>
      </Stack>
      <DialogButtons>
        <Button variant="second" slim onClick={onClose}>
          Close
        </Button>
        <Button slim disabled={number === null} busy={isBusy && 'Making it…'} onClick={() => void download()}>
          Download
        </Button>
      </DialogButtons>
    </Dialog>
  );
}
