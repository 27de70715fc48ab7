import { useEffect, useState } from 'react';
import { useRevalidator, useSearchParams } from 'react-router';
import { type AccountRefusal, accountRefusals } from '#core/staff.ts';
import { Alert } from '#ui/Alert.tsx';
import { Button } from '#ui/Button.tsx';
import { PageHeading } from '#ui/PageHeading.tsx';
import { Hint, Stack } from '#ui/Text.tsx';
import { isSignedIn, learnMe } from '../lib/me.ts';
import { passkeySentence, signInByPasskey } from '../lib/passkeys.ts';
import { signInAgain } from '../lib/signInAgain.ts';
import { providerName, societyName } from '../lib/society.ts';
import { Dialog, DialogButtons } from './Dialog.tsx';
import { Door } from './Door.tsx';
import { ProviderButton } from './ProviderButton.tsx';

const NO_PASSKEY =
  'No passkey on this device? Ask an owner, or whoever runs the server, for a sign-in link. It works once, within 24 hours.';

/** Signs in by a passkey, and then runs `onSignedIn`. */
function usePasskey(onSignedIn: () => Promise<unknown>) {
  const [isBusy, setBusy] = useState(false);
  const [fault, setFault] = useState<string | null>(null);
  const signIn = async () => {
    setBusy(true);
    setFault(null);
    try {
      await signInByPasskey();
      await onSignedIn();
    } catch (error) {
      setFault(passkeySentence(error));
    }
    setBusy(false);
  };
  return { isBusy, fault, signIn };
}

/** The page that every URL shows while nobody is signed in. */
export function SignInPage() {
  const { revalidate } = useRevalidator();
  // The reason for which an account of the identity provider could not sign in.
  const [query] = useSearchParams();
  const why = query.get('refused') ?? '';
  const refused = Object.hasOwn(accountRefusals, why) ? accountRefusals[why as AccountRefusal] : null;
  // Loads the page's data first, since they could not be loaded while nobody was signed in. {@link learnMe} then shows the page.
  const { isBusy, fault, signIn } = usePasskey(async () => {
    await revalidate();
    await learnMe();
  });
  return (
    <Door>
      <PageHeading title="Sign in" />
      <Stack>
        <p>For the staff of {societyName}.</p>
        {(fault ?? refused) && <Alert isAnswer>{fault ?? refused}</Alert>}
        <Button busy={isBusy && 'Signing in…'} onClick={() => void signIn()}>
          Sign in with a passkey
        </Button>
        <ProviderButton />
        <Hint>{NO_PASSKEY}</Hint>
      </Stack>
    </Door>
  );
}

/** A dialog that asks to sign in again when the session has expired during work. The failed call is then repeated. */
export function SignInAgain() {
  const answer = signInAgain.use();
  return answer && <Question answer={answer} />;
}

function Question({ answer }: { answer: (isSignedIn: boolean) => void }) {
  const { isBusy, fault, signIn } = usePasskey(async () => answer(await isSignedIn()));
  // A sign-in link or the identity provider signs in in another tab. This is noticed when this tab becomes visible again.
  useEffect(() => {
    const look = async () => {
      if (document.visibilityState !== 'visible') return;
      if (await isSignedIn()) answer(true);
    };
    const looked = () => void look();
    document.addEventListener('visibilitychange', looked);
    return () => document.removeEventListener('visibilitychange', looked);
  }, [answer]);
  return (
    <Dialog title="Sign in again" onClose={() => answer(false)}>
      <Stack>
        <p>You are signed out. Sign in, and this page goes on where you were.</p>
        {fault && <Alert isAnswer>{fault}</Alert>}
        {providerName !== null && (
          <p>
            With your account at {providerName}:{' '}
            <a href="/" target="_blank" rel="noreferrer">
              sign in in another tab
            </a>
            , then come back here.
          </p>
        )}
        <Hint>{NO_PASSKEY} Open it in another tab, then come back here.</Hint>
      </Stack>
      <DialogButtons>
        <Button variant="second" slim onClick={() => answer(false)}>
          Cancel
        </Button>
        <Button slim data-first busy={isBusy && 'Signing in…'} onClick={() => void signIn()}>
          Sign in with a passkey
        </Button>
      </DialogButtons>
    </Dialog>
  );
}
