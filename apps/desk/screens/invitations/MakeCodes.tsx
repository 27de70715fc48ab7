import { useState } from 'react';
import { useLoaderData, useNavigate } from 'react-router';
import { messageOf } from '#client/failures.ts';
import { isDay, NO_DAY } from '#core/day.ts';
import { Alert } from '#ui/Alert.tsx';
import { Button } from '#ui/Button.tsx';
import { Checkbox, TextField } from '#ui/Field.tsx';
import { Form } from '#ui/Form.tsx';
import { PageHeading } from '#ui/PageHeading.tsx';
import { SelectField } from '#ui/SelectField.tsx';
import { ActionDialog } from '../../components/ActionDialog.tsx';
import { uploadFile } from '../../lib/uploadFile.ts';
import { FileField, fileFault } from './FileField.tsx';
import styles from './Invitations.module.css';
import type { InvitationData } from './loadInvitations.ts';

const kinds = [
  { value: 'file', label: 'The contacts of a file' },
  { value: 'school', label: 'A school' },
  { value: 'number', label: 'A number, to be filled in' },
];

/**
 * The page that generates codes that cannot be guessed: for the contacts in a file, for a school, or a number of codes whose
 * contacts are filled in later.
 */
export function MakeCodes() {
  const programmes = useLoaderData() as InvitationData['list']['programmes'];
  const navigate = useNavigate();
  const [kind, setKind] = useState('file');
  const [file, setFile] = useState<File | null>(null);
  const [values, setValues] = useState({ school: '', count: '1', programme: '', lastDay: '', campaign: '' });
  const [imports, setImports] = useState(true);
  const [error, setError] = useState<string | null>(null);
  const [fault, setFault] = useState<string | null>(null);
  const [share, setShare] = useState<number | null>(null);
  // The id of one request, made when the dialog opens. However often its button is pressed, the server generates the codes only
  // once.
  const [once, setOnce] = useState<string | null>(null);
  const { school, count, programme, lastDay, campaign } = values;
  const change = (changed: Partial<typeof values>) => setValues({ ...values, ...changed });
  const open = (id: number) => navigate(`/invitations/files/${id}`);
  const send = async () => {
    setFault(null);
    if (lastDay !== '' && !isDay(lastDay)) {
      setFault(NO_DAY);
      return;
    }
    if (kind !== 'file') {
      if (kind === 'school' && school.trim() === '') setFault('Please enter the school.');
      else setOnce(crypto.randomUUID());
      return;
    }
    const wrong = fileFault(file);
    setError(wrong);
    if (wrong !== null) return;
    setShare(0);
    const query = {
      name: file!.name,
      programme,
      lastDay: lastDay || undefined,
      campaign,
      imports: imports ? 'yes' : 'no',
    } as const;
    try {
      await open((await uploadFile('uploadContacts', query, file!, setShare)).id);
    } catch (failure) {
      setFault(messageOf(failure, 'The file did not arrive. Please try again.'));
      setShare(null);
    }
  };
  const canImport = kind !== 'number';
  return (
    <>
      <PageHeading title="Make codes" />
      <Form className={styles.form} onSubmit={send}>
        {fault && <Alert isAnswer>{fault}</Alert>}
        <SelectField
          id="kind"
          label="For"
          options={kinds}
          value={kind}
          onChange={({ target }) => {
            setKind(target.value);
            setFault(null);
          }}
        />
        {kind === 'file' && (
          <FileField
            label="File of contacts"
            hint="A CSV file with the column contactId. Names, email, programme and expiresAt are kept."
            error={error}
            onChange={(chosen) => {
              setFile(chosen);
              setError(null);
            }}
          />
        )}
        {kind === 'school' && (
          <TextField
            id="school"
            label="School"
            maxLength={200}
            value={school}
            onChange={({ target }) => change({ school: target.value })}
          />
        )}
        {kind !== 'file' && (
          <TextField
            id="count"
            label="Number of codes"
            inputMode="numeric"
            value={count}
            onChange={({ target }) => change({ count: target.value })}
          />
        )}
        <SelectField
          id="programme"
          label="Programme"
          optional
          placeholder="Any"
          options={programmes.map(({ key, name }) => ({ value: key, label: name }))}
          value={programme}
          onChange={({ target }) => change({ programme: target.value })}
        />
        <TextField
          id="lastDay"
          label="Last day"
          optional
          type="date"
          value={lastDay}
          onChange={({ target }) => change({ lastDay: target.value })}
        />
        <TextField
          id="campaign"
          label="Campaign"
          optional
          maxLength={100}
          autoComplete="off"
          value={campaign}
          onChange={({ target }) => change({ campaign: target.value })}
        />
        {canImport && (
          <Checkbox
            id="imports"
            label="Import them at once"
            hint="Codes open nothing before they are imported."
            checked={imports}
            onChange={({ target }) => setImports(target.checked)}
          />
        )}
        <Button slim type="submit" busy={share !== null && `Sending… ${Math.round(share * 100)}%`}>
          Make codes
        </Button>
      </Form>
      {once !== null && (
        <ActionDialog
          asked={{
            name: 'makeCodes',
            body: {
              programme,
              ...(lastDay !== '' && { lastDay }),
              campaign,
              count: /^\d{1,9}$/.test(count.trim()) ? Number(count) : null,
              imports: canImport && imports,
              once,
              ...(kind === 'school' && { school }),
            },
          }}
          title="Make these codes?"
          done="The codes are being made."
          onDone={({ id }) => void open(id)}
          onClose={() => setOnce(null)}
        />
      )}
    </>
  );
}
