import { useState } from 'react';
import { callDesk } from '#client/deskClient.ts';
import { Alert } from '#ui/Alert.tsx';
import { Button } from '#ui/Button.tsx';
import { passkeySentence } from '../lib/passkeys.ts';
import { providerName } from '../lib/society.ts';

/**
 * A button that continues at the society's identity provider, if it has one. `token`: the token of the sign-in link that the
 * person opened.
 */
export function ProviderButton({ token }: { token?: string }) {
  const [isBusy, setBusy] = useState(false);
  const [fault, setFault] = useState<string | null>(null);
  if (providerName === null) return null;
  const goOn = async () => {
    setBusy(true);
    setFault(null);
    try {
      const { url } = await callDesk('enterByProvider', { body: token === undefined ? {} : { token } });
      window.location.assign(url);
    } catch (error) {
      setFault(passkeySentence(error));
      setBusy(false);
    }
  };
  return (
    <>
      {fault && <Alert isAnswer>{fault}</Alert>}
      <Button variant="second" busy={isBusy && 'One moment…'} onClick={() => void goOn()}>
        Continue with {providerName}
      </Button>
    </>
  );
}
