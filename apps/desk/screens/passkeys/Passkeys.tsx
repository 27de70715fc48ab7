import { useState } from 'react';
import { Alert, Note } from '#ui/Alert.tsx';
import { Button } from '#ui/Button.tsx';
import { PageHeading } from '#ui/PageHeading.tsx';
import { Stack } from '#ui/Text.tsx';
import { Section } from '../../components/Section.tsx';
import { addAnotherPasskey, passkeySentence } from '../../lib/passkeys.ts';
import { signOut } from '../../lib/signOut.ts';

type Answer = { kind: 'done' | 'fault'; text: string };

/** The page on which a member of staff adds another passkey or signs out everywhere. */
export function Passkeys() {
  const [busy, setBusy] = useState<'adding' | 'leaving' | null>(null);
  const [answer, setAnswer] = useState<Answer | null>(null);
  const add = async () => {
    setBusy('adding');
    setAnswer(null);
    try {
      await addAnotherPasskey();
      setAnswer({ kind: 'done', text: 'This device has a passkey now.' });
    } catch (error) {
      setAnswer({ kind: 'fault', text: passkeySentence(error) });
    }
    setBusy(null);
  };
  const leave = async () => {
    setBusy('leaving');
    setAnswer(null);
    const fault = await signOut({ everywhere: true });
    if (fault) setAnswer({ kind: 'fault', text: fault });
    setBusy(null);
  };
  return (
    <>
      <PageHeading title="Passkeys" />
      <Stack>
        <p>A passkey signs you in by one touch. Add one on each device that you work with.</p>
        {answer?.kind === 'fault' && <Alert isAnswer>{answer.text}</Alert>}
        {answer?.kind === 'done' && <Note isAnswer>{answer.text}</Note>}
        <Button slim busy={busy === 'adding' && 'Waiting for your device…'} onClick={() => void add()}>
          Add a passkey
        </Button>
      </Stack>
      <Section title="Lost a device?">
        <p>This ends your sessions in all browsers, this one too.</p>
        <Stack>
          <Button
            variant="second"
            slim
            busy={busy === 'leaving' && 'Signing out…'}
            onClick={() => void leave()}
          >
            Sign out everywhere
          </Button>
        </Stack>
      </Section>
    </>
  );
}
