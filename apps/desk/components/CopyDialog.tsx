import { type ReactNode, useId } from 'react';
import { Button } from '#ui/Button.tsx';
import { copyByHand, selectText, useCopy } from '#ui/Copy.tsx';
import { inputClass } from '#ui/Field.tsx';
import { Hint, Stack } from '#ui/Text.tsx';
import { Dialog, DialogButtons } from './Dialog.tsx';

/** A dialog that shows a URL with a button to copy it. */
export function CopyDialog({
  title,
  text,
  children,
  onClose,
}: {
  title: string;
  text: string;
  children?: ReactNode;
  onClose: () => void;
}) {
  const { outcome, copy } = useCopy();
  const id = useId();
  return (
    <Dialog wide title={title} onClose={onClose}>
      <Stack>
        {children}
        <div className="whole">
          <label className="sr" htmlFor={id}>
            Link
          </label>
          <input id={id} ref={selectText} className={inputClass} type="text" readOnly value={text} />
          <Hint role="status">
            {outcome === 'copied' && 'Copied.'}
            {outcome === 'failed' && copyByHand.address}
          </Hint>
        </div>
      </Stack>
      <DialogButtons>
        <Button variant="second" slim onClick={onClose}>
          Close
        </Button>
        <Button slim onClick={() => void copy(text)}>
          Copy
        </Button>
      </DialogButtons>
    </Dialog>
  );
}
