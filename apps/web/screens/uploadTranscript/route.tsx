import { useRef, useState } from 'react';
import { Link, useLoaderData } from 'react-router';
import { ifOffered, type LoadFailure } from '#client/failures.ts';
import type { Data } from '#contract/schemas.ts';
import { screens } from '#core/navigation.ts';
import { fallback } from '#core/sentences.ts';
import { PROOF_DUE_DAYS } from '#core/specified.ts';
import { TRANSCRIPT_NOT_NEEDED } from '#documents/document.ts';
import { Alert } from '#ui/Alert.tsx';
import { Lead, Stack } from '#ui/Text.tsx';
import type { Send } from '#ui/UploadArea.tsx';
import { ButtonLink } from '../../components/ButtonLink.tsx';
import { Card } from '../../components/Card.tsx';
import {
  DocumentUpload,
  type UploadedDocument,
  UploadedDocuments,
} from '../../components/DocumentUpload.tsx';
import { LoadFailedPage } from '../../components/LoadFailed.tsx';
import { SupportEmail } from '../../components/Support.tsx';
import { call, outcomeOf, requireSession } from '../../lib/api.ts';
import { usePrefetch } from '../../lib/prefetch.ts';
import { upload } from '../../lib/upload.ts';
import { lazyScreens } from '../lazyScreens.tsx';
import { ContinueOnPhone } from './ContinueOnPhone.tsx';
import styles from './styles.module.css';

/** The join's documents, and whether it may upload; null if they could not be loaded or the server does not have the call. */
interface Loaded {
  uuid: string;
  known: Data<'getDocuments'> | null;
  lost: LoadFailure | null;
}

/**
 * Loads the documents of this session, and whether the session may upload. If the server cannot be reached, the form is shown
 * nevertheless, and the upload will show the failure.
 */
export async function loader(): Promise<Loaded> {
  const uuid = requireSession();
  const asked = ifOffered(call('getDocuments', { params: { uuid }, loading: true }), null);
  const outcome = await outcomeOf(asked, fallback.upload);
  if ('data' in outcome) return { uuid, known: outcome.data, lost: null };
  return { uuid, known: null, lost: outcome.kind === 'lost' ? outcome : null };
}

export function Component() {
  const { uuid, known, lost } = useLoaderData<typeof loader>();
  const { documents, rejection, hasEnded } = known ?? { documents: [], rejection: null, hasEnded: false };
  usePrefetch(lazyScreens.congratulations.load);
  const [uploaded, setUploaded] = useState<UploadedDocument[]>(documents);
  /** The number of listed documents. */
  const count = useRef(documents.length);
  const isSending = useRef(false);
  const send: Send = async (file, onProgress, signal) => {
    isSending.current = true;
    try {
      await upload('uploadTranscript', { params: { uuid }, file, onProgress, signal });
      count.current += 1;
      setUploaded((files) => [...files, { name: file.name, size: file.size }]);
    } finally {
      isSending.current = false;
    }
  };
  /**
   * Lists the documents of a poll if the phone has uploaded one. Not while this page is sending a file, since the server may
   * already list that file.
   */
  const takeFromPhone = (now: readonly UploadedDocument[]) => {
    if (isSending.current || now.length <= count.current) return false;
    count.current = now.length;
    setUploaded([...now]);
    return true;
  };
  if (lost) return <LoadFailedPage title="Upload Transcript" failure={lost} />;
  const isTaken = !hasEnded && !rejection?.isFinal;
  const message =
    rejection && uploaded.length === 0 ? rejection.message : hasEnded ? TRANSCRIPT_NOT_NEEDED : null;
  return (
    <Card title="Upload Transcript">
      {isTaken && (
        <Lead>
          One last step: a recent transcript, or your test scores, so we can confirm that you are eligible. A
          clear photo is fine.
        </Lead>
      )}
      {message && (
        <Stack>
          <Alert>{message}</Alert>
        </Stack>
      )}
      {isTaken && <DocumentUpload document="transcript" send={send} />}
      <UploadedDocuments files={uploaded} />
      {uploaded.length > 0 && (
        <p className={styles.onward}>
          <ButtonLink full to={screens.congratulations}>
            Continue
          </ButtonLink>
        </p>
      )}
      {isTaken && known && <ContinueOnPhone uuid={uuid} onDocuments={takeFromPhone} />}
      {uploaded.length === 0 && isTaken && (
        <p className={styles.later}>
          Don’t have it with you? Email it to <SupportEmail /> within {PROOF_DUE_DAYS} days, and{' '}
          <Link to={screens.congratulations}>continue without it</Link>.
        </p>
      )}
    </Card>
  );
}
