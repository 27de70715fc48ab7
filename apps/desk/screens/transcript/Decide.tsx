import { useCallback, useState } from 'react';
import { useNavigate } from 'react-router';
import { messageOf } from '#client/failures.ts';
import { hasRightsOf, UNDO_SECONDS } from '#core/staff.ts';
import { Button } from '#ui/Button.tsx';
import { ActionDialog } from '../../components/ActionDialog.tsx';
import { doAction, tryAction } from '../../lib/actions.ts';
import { useKey } from '../../lib/keys.ts';
import { useMe } from '../../lib/me.ts';
import { showToast } from '../../lib/toaster.ts';
import { addressOf, type TranscriptData } from './loadTranscript.ts';
import { RejectDialog } from './RejectDialog.tsx';
import styles from './Transcript.module.css';

type Asking = 'accept' | 'reject' | 'reject finally';

/** The decisions that can be made now. After a decision, the next waiting transcript is opened. */
export function Decide({ transcript, title }: { transcript: TranscriptData; title: string }) {
  const { id, join, standing, next } = transcript;
  const { role } = useMe();
  const navigate = useNavigate();
  const [asking, setAsking] = useState<Asking | null>(null);
  const mayAccept = standing === 'open' || standing === 'rejected';
  const mayReject = mayAccept || standing === 'accepted';
  const goOn = useCallback(() => void navigate(next ? addressOf(next) : '/transcripts'), [navigate, next]);
  useKey('a', mayAccept ? () => setAsking('accept') : null);
  useKey('r', mayReject ? () => setAsking('reject') : null);
  useKey('s', standing === 'open' ? goOn : null);

  const undo = async () => {
    const asked = { name: 'reopenTranscripts', params: { id: String(id) }, body: { join } } as const;
    try {
      await doAction(asked, await tryAction(asked, new AbortController().signal));
      void showToast({ kind: 'success', title: 'The decision is taken back.', text: title });
      await navigate(addressOf(transcript));
    } catch (error) {
      const text = messageOf(error, 'Something went wrong.');
      void showToast({ kind: 'error', title: 'The decision is not taken back.', text });
    }
  };
  const common = {
    id,
    join,
    onClose: () => setAsking(null),
    // After correcting an earlier decision, the page stays open.
    onDone: () => standing === 'open' && goOn(),
  };
  const toast = {
    action: { name: 'Undo', run: () => void undo() },
    shownMs: UNDO_SECONDS * 1_000,
  };
  return (
    <div className={styles.actions}>
      {mayAccept && (
        <Button slim aria-keyshortcuts="a" onClick={() => setAsking('accept')}>
          Accept
        </Button>
      )}
      {mayReject && (
        <Button variant="second" slim aria-keyshortcuts="r" onClick={() => setAsking('reject')}>
          Reject
        </Button>
      )}
      {mayReject && hasRightsOf(role, 'finance') && (
        <Button variant="second" slim onClick={() => setAsking('reject finally')}>
          Reject finally
        </Button>
      )}
      {standing === 'open' && (
        <Button variant="plain" aria-keyshortcuts="s" onClick={goOn}>
          Skip
        </Button>
      )}
      {asking === 'accept' && (
        <ActionDialog
          asked={{ name: 'acceptTranscripts', params: { id: String(id) }, body: { join } }}
          title={`Accept the transcript of ${title}?`}
          done={`The transcript of ${title} is accepted.`}
          toast={toast}
          {...common}
        />
      )}
      {asking === 'reject' && (
        <RejectDialog
          name="rejectTranscripts"
          title={`Reject the transcript of ${title}?`}
          done={`The transcript of ${title} is rejected.`}
          toast={toast}
          {...common}
        />
      )}
      {asking === 'reject finally' && (
        <RejectDialog
          name="rejectFinally"
          title={`Reject the transcript of ${title} finally?`}
          done={`The transcript of ${title} is rejected finally.`}
          {...common}
        />
      )}
    </div>
  );
}
