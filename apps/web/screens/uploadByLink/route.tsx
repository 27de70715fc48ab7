import { useState } from 'react';
import { type LoaderFunctionArgs, useLoaderData, useParams } from 'react-router';
import type { LoadFailure } from '#client/failures.ts';
import { LINK_NOT_OPENED } from '#core/sentences.ts';
import { Note } from '#ui/Alert.tsx';
import { Lead, Stack } from '#ui/Text.tsx';
import type { Send } from '#ui/UploadArea.tsx';
import { Card } from '../../components/Card.tsx';
import {
  DocumentUpload,
  type UploadedDocument,
  UploadedDocuments,
} from '../../components/DocumentUpload.tsx';
import { LoadFailed } from '../../components/LoadFailed.tsx';
import { call, outcomeOf } from '../../lib/api.ts';
import { upload } from '../../lib/upload.ts';

/** Checks whether the link is valid. The server's answer contains nothing else about the join. */
export async function loader({ params }: LoaderFunctionArgs): Promise<{
  fault: LoadFailure | null;
}> {
  const token = params.token ?? '';
  const outcome = await outcomeOf(call('getUploadLink', { params: { token }, quiet: true }), LINK_NOT_OPENED);
  return { fault: 'kind' in outcome ? outcome : null };
}

/** The page where a phone uploads a transcript for a join on another device. */
export function Component() {
  const { fault } = useLoaderData() as Awaited<ReturnType<typeof loader>>;
  const { token = '' } = useParams();
  const [sent, setSent] = useState<UploadedDocument[]>([]);
  const send: Send = async (file, onProgress, signal) => {
    await upload('uploadByLink', { params: { token }, file, onProgress, signal });
    setSent((files) => [...files, { name: file.name, size: file.size }]);
  };
  return (
    <Card title="Upload Transcript">
      {fault ? (
        <LoadFailed failure={fault} />
      ) : (
        <>
          <Lead>
            Take a photo of your transcript or your test scores with this phone. Get the whole page in the
            picture, with every line readable.
          </Lead>
          <DocumentUpload document="transcript" send={send} />
          <UploadedDocuments files={sent} />
          {sent.length > 0 && (
            <Stack>
              <Note>
                We have it. Continue on your computer, where it is now listed. You can close this window, or
                send another page.
              </Note>
            </Stack>
          )}
        </>
      )}
    </Card>
  );
}
