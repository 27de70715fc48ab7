import { useState } from 'react';
import { useLocation, useParams } from 'react-router';
import { linkQuery } from '#core/linkQuery.ts';
import { RESUME_THANKS, RESUME_UPLOADED } from '#core/sentences.ts';
import { NO_CONTACT_ID, UPLOAD_FAILED } from '#documents/document.ts';
import { Alert, Note } from '#ui/Alert.tsx';
import { Icon } from '#ui/icons.tsx';
import { PageHeading } from '#ui/PageHeading.tsx';
import { Lead, Stack } from '#ui/Text.tsx';
import type { Send } from '#ui/UploadArea.tsx';
import { Card } from '../../components/Card.tsx';
import { DocumentUpload, Refused } from '../../components/DocumentUpload.tsx';
import { signatureOf } from '../../lib/signature.ts';
import { upload } from '../../lib/upload.ts';
import styles from './styles.module.css';

export function Component() {
  const { contactId } = useParams();
  const { search, hash } = useLocation();
  const query = linkQuery(search + hash);
  const [thanks, setThanks] = useState(false);
  const [leftOut, setLeftOut] = useState<string | null>(null);

  if (thanks) {
    return (
      <Card>
        <div className={styles.thanks} role="status">
          <span className={styles.tick}>
            <Icon name="tick" size={32} />
          </span>
          <PageHeading key="thanks" takesFocus title={RESUME_UPLOADED} />
          <p>{RESUME_THANKS}</p>
          {leftOut && <Note>{leftOut}</Note>}
        </div>
      </Card>
    );
  }
  const send: Send = async (file, onProgress, signal) => {
    const fields = { contactId: contactId ?? '', ...signatureOf(query) };
    const { success, message } = await upload('uploadResume', { fields, file, onProgress, signal });
    if (!success) throw new Refused(message || UPLOAD_FAILED);
    setThanks(true);
  };
  return (
    <Card title="Upload Your Resume">
      <Lead>Mentors and scholarship committees read it along with your membership.</Lead>
      {contactId ? (
        <DocumentUpload document="resume" send={send} onLeftOut={setLeftOut} />
      ) : (
        <Stack>
          <Alert>{NO_CONTACT_ID}</Alert>
        </Stack>
      )}
    </Card>
  );
}
