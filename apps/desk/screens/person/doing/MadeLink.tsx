import { useCallback, useEffect, useState } from 'react';
import type { DeskDone } from '#contract/deskSchemas.ts';
import { Button } from '#ui/Button.tsx';
import { inputClass } from '#ui/Field.tsx';
import { Stack } from '#ui/Text.tsx';
import { Dialog, DialogButtons } from '../../../components/Dialog.tsx';
import { saveFile } from '../../../lib/saveFile.ts';
import { useLoaded } from '../../../lib/useLoaded.ts';
import styles from './MadeLink.module.css';

const SHOWN_MS = 3_000;

/** Shows a newly made link, with a button to copy it, and its QR code. The link is not shown anywhere else. */
export function MadeLink({
  made: { url, lines },
  onClose,
}: {
  made: DeskDone<'makeLink'>;
  onClose: () => void;
}) {
  const { data: picture } = useLoaded(
    useCallback(async () => (await import('./qrCode.ts')).qrCodeOf(url), [url]),
  );
  const [copied, setCopied] = useState<string | null>(null);
  useEffect(() => {
    if (copied === null) return;
    const pause = setTimeout(() => setCopied(null), SHOWN_MS);
    return () => clearTimeout(pause);
  }, [copied]);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(url);
      setCopied('Copied');
    } catch {
      document.querySelector<HTMLTextAreaElement>('#made-link')?.select();
      setCopied('Press Ctrl+C to copy');
    }
  };
  return (
    <Dialog wide title="The link" onClose={onClose}>
      <Stack>
        {lines.map((line) => (
          <p key={line}>{line}</p>
        ))}
        <textarea
          id="made-link"
          className={`${inputClass} ${styles.link}`}
          aria-label="Link"
          rows={3}
          readOnly
          value={url}
        />
        <Button slim data-first onClick={() => void copy()}>
          Copy
        </Button>
        <p className="sr" role="status">
          {copied}
        </p>
        {copied !== null && <p aria-hidden="true">{copied}</p>}
        <div className={styles.code}>
          {picture && (
            <svg viewBox={picture.viewBox} role="img" aria-label="QR code of the link">
              <path d={picture.path} />
            </svg>
          )}
        </div>
        {picture && (
          <Button
            variant="second"
            slim
            onClick={() => saveFile(new Blob([picture.file], { type: 'image/svg+xml' }), 'link.svg')}
          >
            Download
          </Button>
        )}
      </Stack>
      <DialogButtons>
        <Button variant="second" slim onClick={onClose}>
          Close
        </Button>
      </DialogButtons>
    </Dialog>
  );
}
