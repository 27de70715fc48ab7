import { useState } from 'react';
import { Form, Link } from 'react-router';
import { Alert, Note } from '#ui/Alert.tsx';
import { Button } from '#ui/Button.tsx';
import { TextField } from '#ui/Field.tsx';
import { ExtendDialog } from './ChangeDialogs.tsx';
import styles from './Invitations.module.css';
import type { InvitationData, Verdict } from './loadInvitations.ts';

/** A form for a code. The answer is a sentence that says whom the code leads to or why it fails, and what can be done. */
export function Explain({ explained }: Pick<InvitationData, 'explained'>) {
  return (
    <>
      <Form className={styles.explain} preventScrollReset>
        <TextField
          id="explained"
          name="code"
          label="Code"
          autoComplete="off"
          autoCapitalize="characters"
          maxLength={200}
          required
          defaultValue={explained?.text ?? ''}
        />
        <Button slim type="submit">
          Explain
        </Button>
      </Form>
      {explained && <Answer verdict={explained.verdict} />}
    </>
  );
}

function Answer({ verdict: { sentence, fault, code, people } }: { verdict: Verdict }) {
  const [isOpen, setOpen] = useState(false);
  const canExtend = code !== null && (fault === 'expired' || fault === 'withdrawn');
  const needsLink = code !== null && (canExtend || fault === 'programme');
  return (
    <div className={styles.answer}>
      {fault === null ? <Note isAnswer>{sentence}</Note> : <Alert>{sentence}</Alert>}
      <p className={styles.remedies}>
        {canExtend && (
          <Button variant="second" slim onClick={() => setOpen(true)}>
            Extend
          </Button>
        )}
        {people.map(({ id, name }) => (
          <Link key={id} to={`/people/${id}`}>
            Open {people.length === 1 ? 'person' : (name ?? `person ${id}`)}
          </Link>
        ))}
        {needsLink && people[0] && <Link to={`/people/${people[0].id}`}>Make a link</Link>}
      </p>
      {isOpen && code !== null && <ExtendDialog which={{ codes: [code] }} onClose={() => setOpen(false)} />}
    </div>
  );
}
