import { useState } from 'react';
import { useNavigate } from 'react-router';
import { messageOf } from '#client/failures.ts';
import { Alert } from '#ui/Alert.tsx';
import { Button } from '#ui/Button.tsx';
import { TextField } from '#ui/Field.tsx';
import { Form } from '#ui/Form.tsx';
import { PageHeading } from '#ui/PageHeading.tsx';
import { uploadFile } from '../../lib/uploadFile.ts';
import { FileField, fileFault } from './FileField.tsx';
import styles from './Invitations.module.css';
import { Sample } from './Sample.tsx';

/** The form that uploads a file of invitations, which the server then checks. */
export function Upload() {
  const navigate = useNavigate();
  const [file, setFile] = useState<File | null>(null);
  const [campaign, setCampaign] = useState('');
  const [error, setError] = useState<string | null>(null);
  const [fault, setFault] = useState<string | null>(null);
  const [share, setShare] = useState<number | null>(null);
  const send = async () => {
    const wrong = fileFault(file);
    setError(wrong);
    setFault(null);
    if (wrong !== null) return;
    setShare(0);
    try {
      const { id } = await uploadFile('uploadInvitations', { name: file!.name, campaign }, file!, setShare);
      await navigate(`/invitations/files/${id}`);
    } catch (failure) {
      setFault(messageOf(failure, 'The file did not arrive. Please try again.'));
      setShare(null);
    }
  };
  return (
    <>
      <PageHeading title="Upload invitations" />
      <Form className={styles.form} onSubmit={send}>
        {fault && <Alert isAnswer>{fault}</Alert>}
        <FileField
          label="File"
          hint="A CSV file, 100 MB at most. It is checked first: nothing is imported yet."
          error={error}
          onChange={(chosen) => {
            setFile(chosen);
            setError(null);
          }}
        />
        <TextField
          id="campaign"
          label="Campaign"
          optional
          hint="The mailing that the invitations belong to, such as Spring 2027."
          maxLength={100}
          autoComplete="off"
          value={campaign}
          onChange={({ target }) => setCampaign(target.value)}
        />
        <Button slim type="submit" busy={share !== null && `Sending… ${Math.round(share * 100)}%`}>
          Check the file
        </Button>
      </Form>
      <Sample />
    </>
  );
}
