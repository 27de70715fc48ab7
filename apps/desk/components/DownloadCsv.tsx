import { useState } from 'react';
import { messageOf } from '#client/failures.ts';
import { Alert } from '#ui/Alert.tsx';
import { Button } from '#ui/Button.tsx';
import { saveFile } from '../lib/saveFile.ts';

/** Takes a list away as a CSV file of this name. `load` asks for it with the filters that are set. */
export function DownloadCsv({ file, load }: { file: string; load: () => Promise<ArrayBuffer> }) {
  const [isBusy, setBusy] = useState(false);
  const [fault, setFault] = useState<string | null>(null);
  const take = async () => {
    setBusy(true);
    setFault(null);
    try {
      saveFile(new Blob([await load()], { type: 'text/csv' }), file);
    } catch (error) {
      setFault(messageOf(error, 'This could not be loaded.'));
    }
    setBusy(false);
  };
  return (
    <div>
      {fault && <Alert isAnswer>{fault}</Alert>}
      <Button variant="plain" busy={isBusy && 'Loading…'} onClick={() => void take()}>
        Download CSV
      </Button>
    </div>
  );
}
