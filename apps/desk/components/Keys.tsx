import { Button } from '#ui/Button.tsx';
import { Checkbox } from '#ui/Field.tsx';
import { keysAreOn, switchKeys } from '../lib/keys.ts';
import { Dialog, DialogButtons } from './Dialog.tsx';
import styles from './Keys.module.css';

const keys = [
  ['/', 'Search people'],
  ['↑ ↓', 'Move between the people that were found'],
  ['Enter', 'Open'],
  ['a', 'Accept the transcript, then Enter'],
  ['r', 'Reject the transcript, then 1 to 6 for the reason'],
  ['s', 'Skip the transcript'],
  ['Esc', 'Close a dialog or the menu'],
  ['?', 'These keys'],
];

/**
 * A dialog that lists the keyboard shortcuts. It can switch off single-key shortcuts, which speech input could trigger by
 * mistake.
 */
export function Keys({ onClose }: { onClose: () => void }) {
  const isOn = keysAreOn();
  return (
    <Dialog title="Keys" onClose={onClose}>
      <dl className={styles.keys}>
        {keys.map(([key, text]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
      <Checkbox
        id="keys-on"
        label="Use single keys"
        hint="Switch them off if you speak to your computer."
        checked={isOn}
        onChange={(event) => switchKeys(event.target.checked)}
      />
      <DialogButtons>
        <Button slim onClick={onClose}>
          Close
        </Button>
      </DialogButtons>
    </Dialog>
  );
}
