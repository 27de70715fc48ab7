import { useState } from 'react';
import { screens } from '#core/navigation.ts';
import { requireSession } from '../api.ts';
import { Card } from '../components/Card.tsx';
import { Link } from '../components/Link.tsx';
import { PageHeading } from '../components/PageHeading.tsx';
import { type Send, UploadArea, type UploadedFile, UploadedList } from '../components/UploadArea.tsx';
import ui from '../components/ui.module.css';
import { useSite } from '../site.ts';
import { upload } from '../upload.ts';

export function loader() {
  requireSession();
  return null;
}

export function Component() {
  const { society } = useSite();
  const [uploaded, setUploaded] = useState<UploadedFile[]>([]);
  const send: Send = async (file, onProgress, signal) => {
    const params = { uuid: requireSession() };
    await upload('uploadTranscript', { params, file, onProgress, signal });
    setUploaded((files) => [...files, { name: file.name, size: file.size }]);
  };
  return (
    <Card>
      <PageHeading title="Upload Transcript" />
      <p className={ui.lead}>
        One last step: a recent transcript, or your test scores, so that we can confirm that you are eligible.
        A clear photo will do.
      </p>
      <UploadArea what="transcript" send={send} />
      <UploadedList files={uploaded} />
      {uploaded.length > 0 && (
        <p className={ui.onward}>
          <Link className={`${ui.button} ${ui.full}`} to={screens.congratulations}>
            Continue
          </Link>
        </p>
      )}
      {uploaded.length === 0 && (
        <p className={ui.later}>
          Not at hand? Email it to <a href={`mailto:${society.supportEmail}`}>{society.supportEmail}</a>{' '}
          within 30 days and <Link to={screens.congratulations}>go on without it</Link>.
        </p>
      )}
    </Card>
  );
}
