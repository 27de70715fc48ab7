import { useState } from 'react';
import { messageOf } from '#client/failures.ts';
import { Alert } from '#ui/Alert.tsx';
import { Button } from '#ui/Button.tsx';
import { saveFile } from '../lib/saveFile.ts';

/** A button that downloads a list as a CSV file with this name. `load` requests the list with the present filters. */
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
