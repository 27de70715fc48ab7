import { useEffect, useState } from 'react';
import { type RejectionReason, rejectionReasons } from '#documents/document.ts';
import type { ToastMessage } from '#ui/Toaster.tsx';
import { ActionDialog } from '../../components/ActionDialog.tsx';
import { keysAreOn } from '../../lib/keys.ts';
import styles from './Transcript.module.css';

const reasons = Object.entries(rejectionReasons) as [RejectionReason, string][];

/**
 * A dialog to choose the reason of a rejection. If the rejection is not final, the applicant reads the reason, and each reason
 * has a keyboard shortcut.
 */
export function RejectDialog({
  name,
  id,
  join,
  ...dialog
}: {
  name: 'rejectTranscripts' | 'rejectFinally';
  id: number;
  join: number;
  title: string;
  done: string;
  toast?: Pick<ToastMessage, 'action' | 'shownMs'>;
  onDone: () => void;
  onClose: () => void;
}) {
  const isFinal = name === 'rejectFinally';
  const [reason, setReason] = useState<RejectionReason | null>(null);
  const hasKeys = keysAreOn() && !isFinal;
  useEffect(() => {
    if (!hasKeys) return;
    const pressed = ({ key, repeat, ctrlKey, metaKey, altKey }: KeyboardEvent) => {
      const chosen = reasons[Number(key) - 1];
      if (!chosen || repeat || ctrlKey || metaKey || altKey) return;
      setReason(chosen[0]);
      // Removes the focus from the field, so that the button can take it once it appears, and Enter then presses it.
      (document.activeElement as HTMLElement | null)?.blur();
    };
    document.addEventListener('keydown', pressed);
    return () => document.removeEventListener('keydown', pressed);
  }, [hasKeys]);
  return (
    <ActionDialog
      asked={reason && { name, params: { id: String(id) }, body: { join, reason } }}
      isMoney={isFinal}
      {...dialog}
    >
      <fieldset className={styles.reasons}>
        <legend>{isFinal ? 'Reason, for staff' : 'Reason, as the applicant reads it'}</legend>
        {reasons.map(([each, sentence], index) => (
          <label key={each}>
            <input type="radio" name="reason" checked={each === reason} onChange={() => setReason(each)} />
            <span>
              {!isFinal && <kbd>{index + 1}</kbd>} {sentence}
            </span>
          </label>
        ))}
      </fieldset>
    </ActionDialog>
  );
}
