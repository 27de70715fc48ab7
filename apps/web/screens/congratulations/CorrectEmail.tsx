import { useState } from 'react';
import { useRevalidator } from 'react-router';
import { Alert, Note } from '#ui/Alert.tsx';
import { Button } from '#ui/Button.tsx';
import { TextField } from '#ui/Field.tsx';
import { Form } from '#ui/Form.tsx';
import { call } from '../../lib/api.ts';
import { storedSession } from '../../lib/session.ts';
import { useSite } from '../../lib/site.ts';
import { useAttempt } from '../../lib/useAttempt.ts';
import styles from './styles.module.css';

/**
 * Shows the email to which letters go, and the form in which a member corrects it, which opens by a button. With `isUnwritable`,
 * the email is not shown, since an alert says why no letters arrive.
 */
export function CorrectEmail({ email, isUnwritable }: { email: string; isUnwritable: boolean }) {
  const { sendsLetters } = useSite();
  const { revalidate } = useRevalidator();
  const [isOpen, setOpen] = useState(false);
  const [typed, setTyped] = useState(email);
  const [saved, setSaved] = useState<string | null>(null);
  const { busy, fault, attempt } = useAttempt('Your email could not be changed. Please try again.');
  const uuid = storedSession();
  if (!uuid) return null;
  const save = () =>
    attempt('save', async () => {
      const answer = await call('correctEmail', { params: { uuid }, body: { email: typed }, quiet: true });
      setSaved(answer.email);
      setOpen(false);
      await revalidate();
    });
  return (
    <div>
      {saved !== null && (
        <Note isAnswer>
          From now on we write to <b>{saved}</b>.{sendsLetters && ' Your confirmation is on its way there.'}
        </Note>
      )}
      {isOpen ? (
        <Form className={styles.told} onSubmit={save}>
          <TextField
            id="email"
            name="email"
            type="email"
            label="Your email"
            autoComplete="email"
            autoCapitalize="none"
            enterKeyHint="done"
            value={typed}
            onChange={(event) => setTyped(event.target.value)}
            autoFocus
          />
          {fault && <Alert isAnswer>{fault.message}</Alert>}
          <Button type="submit" slim busy={busy === 'save' && 'Saving...'}>
            Save
          </Button>
          <Button variant="second" slim onClick={() => setOpen(false)}>
            Cancel
          </Button>
        </Form>
      ) : (
        <div className={styles.goTo}>
          {!isUnwritable && (
            <p>
              They go to <b>{email}</b>.
            </p>
          )}
          <Button
            variant="plain"
            onClick={() => {
              setTyped(email);
              setSaved(null);
              setOpen(true);
            }}
          >
            Correct<span className="sr"> the email</span>
          </Button>
        </div>
      )}
    </div>
  );
}
