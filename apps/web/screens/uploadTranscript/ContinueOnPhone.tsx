import { useId, useState } from 'react';
import type { Data } from '#contract/schemas.ts';
import { UPLOAD_LINK_MINUTES } from '#documents/document.ts';
import { Alert } from '#ui/Alert.tsx';
import { Button } from '#ui/Button.tsx';
import { Icon } from '#ui/icons.tsx';
import { usePoll } from '#ui/usePoll.ts';
import { CopyableAddress } from '../../components/CopyableAddress.tsx';
import { QrPicture } from '../../components/QrPicture.tsx';
import { call } from '../../lib/api.ts';
import { type QrCode, qrCode } from '../../lib/qrCode.ts';
import { useAttempt } from '../../lib/useAttempt.ts';
import styles from './ContinueOnPhone.module.css';

type Documents = Data<'getDocuments'>['documents'];

const POLL_INTERVAL_MS = 3_000;
const FAILED = 'We could not create a code. Please try again.';

interface Shown {
  address: string;
  /** The time at which the code expires (ms since 1970, by this device's clock, which may differ from the server's). */
  until: number;
  code: QrCode;
}

/**
 * Shows a QR code that opens the upload page on a phone. The code gives the phone no other access to the join. While it is shown,
 * this page polls for documents that the phone has uploaded.
 */
export function ContinueOnPhone({
  uuid,
  onDocuments,
}: {
  uuid: string;
  /** Called with the documents of each poll. Returns whether the phone has uploaded one. */
  onDocuments: (documents: Documents) => boolean;
}) {
  const [shown, setShown] = useState<Shown | null>(null);
  const [arrived, setArrived] = useState<string | null>(null);
  const heading = useId();
  const { busy, fault, attempt, fail } = useAttempt<'show'>(FAILED);

  const show = () =>
    attempt('show', async () => {
      setArrived(null);
      const { path } = await call('createUploadLink', { params: { uuid }, body: {}, quiet: true });
      const until = Date.now() + UPLOAD_LINK_MINUTES * 60_000;
      const address = location.origin + path;
      setShown({ address, until, code: await qrCode(address) });
    });

  // There is one more poll after the code has expired, since the phone may have uploaded a document while this computer was
  // asleep.
  usePoll(shown !== null, POLL_INTERVAL_MS, async (signal) => {
    const hasExpired = Date.now() > shown!.until;
    const asked = call('getDocuments', { params: { uuid }, quiet: true, signal });
    const documents = await asked.then(
      (answer) => answer.documents,
      () => [],
    );
    if (signal.aborted) return true;
    if (onDocuments(documents)) {
      setShown(null);
      setArrived(documents.at(-1)!.name);
    } else if (hasExpired) {
      setShown(null);
      fail('show', 'The code has expired. You can show a new one.');
    }
    return hasExpired;
  });

  return (
    <section className={styles.panel} aria-labelledby={heading}>
      <span className={styles.icon}>
        <Icon name="mobile" size={26} />
      </span>
      <div className={styles.words}>
        <h2 id={heading} className={styles.title}>
          Continue on your phone
        </h2>
        {shown ? (
          <>
            <p>Point your phone’s camera at the code and photograph the transcript. It will appear here.</p>
            <p className={styles.small}>
              The code works for an hour, and opens nothing but this upload. Or open this address on the
              phone:
            </p>
            <CopyableAddress address={shown.address} />
          </>
        ) : (
          <>
            <p>Is it on paper? Take a photo with your phone, and continue here.</p>
            {fault && <Alert>{fault.message}</Alert>}
            <Button
              variant="second"
              className={styles.show}
              busy={busy !== null && 'One moment…'}
              onClick={show}
            >
              Show the code
            </Button>
          </>
        )}
      </div>
      <p className={styles.arrived} role="status">
        {arrived && `${arrived} arrived from your phone.`}
      </p>
      {shown && <QrPicture code={shown.code} label="QR code of the address beside it" />}
    </section>
  );
}
