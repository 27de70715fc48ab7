import { useState } from 'react';
import { Link } from 'react-router';
import { cleanEmail } from '#core/cleanText.ts';
import { LINKS_SENT } from '#core/pass.ts';
import { isEmail } from '#core/studentDetails.ts';
import { Alert, Note } from '../../components/Alert.tsx';
import { Button } from '../../components/Button.tsx';
import { TextField } from '../../components/Field.tsx';
import styles from '../../components/ProveYourself.module.css';
import ui from '../../components/ui.module.css';
import { call } from '../../lib/api.ts';
import { getStartedPath } from '../../lib/getStartedPath.ts';
import { useSite } from '../../lib/site.ts';
import { useAttempt } from '../../lib/useAttempt.ts';

/** The form "Send me my link". It shows the same answer for every email. */
export function AskForLink() {
  const { society } = useSite();
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
      <p className={ui.lead}>
        Have you begun to join, or are you a member? We mail you a link that opens your join on any device,
        where you left off.
      </p>
      <form
        className={styles.way}
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          if (isEmail(email)) void send();
        }}
      >
        <TextField
          id="email"
          name="email"
          type="email"
          label="Email"
          hint="The one that you gave when you joined."
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
      </form>
      <p className={ui.hint}>
        Nothing came? Write to <a href={`mailto:${society.supportEmail}`}>{society.supportEmail}</a>, or{' '}
        <Link to={getStartedPath()}>get started</Link> with your invite code.
      </p>
    </>
  );
}
