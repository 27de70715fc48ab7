import { useState } from 'react';
import { Link } from 'react-router';
import { cleanEmail } from '#core/cleanText.ts';
import { LINKS_SENT } from '#core/pass.ts';
import { isEmail } from '#core/studentDetails.ts';
import { Alert, Note } from '#ui/Alert.tsx';
import { Button } from '#ui/Button.tsx';
import { TextField } from '#ui/Field.tsx';
import { Form } from '#ui/Form.tsx';
import { Hint, Lead } from '#ui/Text.tsx';
import styles from '../../components/ProveYourself.module.css';
import { SupportEmail } from '../../components/Support.tsx';
import { call } from '../../lib/api.ts';
import { getStartedPath } from '../../lib/getStartedPath.ts';
import { useAttempt } from '../../lib/useAttempt.ts';

/** The form that requests the link to a join by email. It shows the same answer for every email. */
export function AskForLink() {
  const [typed, setTyped] = useState('');
  const email = cleanEmail(typed);
  const [isSent, setSent] = useState(false);
  const { busy, fault, attempt } = useAttempt('Failed to send your link.');

  const send = () =>
    attempt('send', async () => {
      setSent(false);
      await call('sendPassLinks', { body: { email }, quiet: true });
      setSent(true);
    });

  return (
    <>
      <Lead>
        Have you started to join, or are you already a member? We will email you a link that opens your
        registration on any device, where you left off.
      </Lead>
      <Form className={styles.way} onSubmit={() => isEmail(email) && send()}>
        <TextField
          id="email"
          name="email"
          type="email"
          label="Email"
          hint="The one you gave when you joined."
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
          autoComplete="email"
          autoCapitalize="none"
          enterKeyHint="send"
          maxLength={320}
          required
        />
        <Button type="submit" full disabled={!isEmail(email)} busy={busy !== null && 'Sending...'}>
          Send me my link
        </Button>
        {isSent && <Note isAnswer>{LINKS_SENT}</Note>}
        {fault && <Alert isAnswer>{fault.message}</Alert>}
      </Form>
      <Hint>
        No email? Write to <SupportEmail />, or <Link to={getStartedPath()}>get started</Link> with your
        invite code.
      </Hint>
    </>
  );
}
