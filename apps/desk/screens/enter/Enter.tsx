import { type ReactNode, useState } from 'react';
import { Link, useNavigate } from 'react-router';
import { callDesk } from '#client/deskClient.ts';
import { Alert } from '#ui/Alert.tsx';
import { Button } from '#ui/Button.tsx';
import { PageHeading } from '#ui/PageHeading.tsx';
import { Stack } from '#ui/Text.tsx';
import { Door } from '../../components/Door.tsx';
import { ProviderButton } from '../../components/ProviderButton.tsx';
import { linkToken } from '../../lib/link.ts';
import { addPasskey, passkeySentence } from '../../lib/passkeys.ts';
import { providerName, societyName } from '../../lib/society.ts';

type Options = Record<string, unknown>;

/** The page that signs in by a link. It needs a press of a button, since mail programs open links automatically. */
export function Enter() {
  const navigate = useNavigate();
  const [isBusy, setBusy] = useState(false);
  const [fault, setFault] = useState<string | null>(null);
  const [needsPasskey, setNeedsPasskey] = useState(false);
  // The options for creating a passkey, which can be used only once. After a failure, the link is used again to get new ones.
  const [options, setOptions] = useState<Options | null>(null);
  if (linkToken === null) return <NoLink />;

  const attempt = async (work: () => Promise<void>) => {
    setBusy(true);
    setFault(null);
    try {
      await work();
    } catch (error) {
      setFault(passkeySentence(error));
      setOptions(null);
    }
    setBusy(false);
  };
  const goOn = () => navigate('/', { replace: true });
  const askForOptions = async () => (await callDesk('enter', { body: { token: linkToken! } })).options;

  if (needsPasskey)
    return (
      <Step title="Add a passkey" fault={fault}>
        <p>
          From now on you sign in with this device: by fingerprint, face or PIN.
          {providerName === null
            ? ' Nothing else opens the desk.'
            : ` Or by your account at ${providerName}.`}
        </p>
        <Button
          busy={isBusy && 'Waiting for your device…'}
          onClick={() =>
            void attempt(async () => {
              const given = options ?? (await askForOptions());
              if (given) await addPasskey(given, linkToken!);
              await goOn();
            })
          }
        >
          Add a passkey
        </Button>
        <ProviderButton token={linkToken} />
      </Step>
    );
  return (
    <Step title="Sign in" fault={fault}>
      <p>This link signs you in at the desk of {societyName}. It works once.</p>
      <Button
        busy={isBusy && 'Signing in…'}
        onClick={() =>
          void attempt(async () => {
            const given = await askForOptions();
            if (!given) return goOn();
            setOptions(given);
            setNeedsPasskey(true);
          })
        }
      >
        Sign in
      </Button>
    </Step>
  );
}

function Step({ title, fault, children }: { title: string; fault: string | null; children: ReactNode }) {
  return (
    <Door>
      <PageHeading key={title} title={title} takesFocus={title !== 'Sign in'} />
      <Stack>
        {fault && <Alert isAnswer>{fault}</Alert>}
        {children}
      </Stack>
    </Door>
  );
}

function NoLink() {
  return (
    <Step title="Sign in" fault={null}>
      <p>The sign-in link is not complete. Open it again as you got it.</p>
      <Link to="/">Go to the desk</Link>
    </Step>
  );
}
