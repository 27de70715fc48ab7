import { useState } from 'react';
import type { DeskDone } from '#contract/deskSchemas.ts';
import { Button } from '#ui/Button.tsx';
import { TextField } from '#ui/Field.tsx';
import { ActionDialog } from '../../components/ActionDialog.tsx';
import { type Chosen, keyOf, lineOf, nameOf } from './loadParcels.ts';
import styles from './Parcels.module.css';

export type Outcome = DeskDone<'shipGoods'>['outcomes'][number];

/** The maximum number of characters of a note. */
const NOTE_LENGTH = 200;

/**
 * A dialog that marks goods as sent, with a note for all or for each. `evenHeld`: the goods are held, and are sent nevertheless.
 */
export function MarkDialog({
  chosen,
  evenHeld = false,
  onDone,
  onClose,
}: {
  chosen: readonly Chosen[];
  evenHeld?: boolean;
  onDone?: (outcomes: Outcome[]) => void;
  onClose: () => void;
}) {
  // The goods to mark stay as they were when the dialog opened, even if the list behind it is loaded again.
  const [marked] = useState(chosen);
  const [note, setNote] = useState('');
  const [notes, setNotes] = useState<Record<string, string>>({});
  const [hasEach, setHasEach] = useState(false);
  const isOne = marked.length === 1;
  return (
    <ActionDialog
      asked={{
        name: 'shipGoods',
        body: {
          note,
          evenHeld,
          lines: marked.map((each) => ({ ...lineOf(each), note: notes[keyOf(each.goods)] ?? '' })),
        },
      }}
      title={evenHeld ? 'Send this, though it is held?' : isOne ? 'Was this sent?' : 'Were these sent?'}
      done={isOne ? 'It is marked.' : 'They are marked.'}
      onDone={({ outcomes }) => onDone?.(outcomes)}
      onClose={onClose}
    >
      <div className={styles.notes}>
        <TextField
          id="note"
          label={isOne ? 'Note' : 'Note for all'}
          optional
          hint="Such as a tracking number. The member reads it."
          maxLength={NOTE_LENGTH}
          autoComplete="off"
          value={note}
          onChange={({ target }) => setNote(target.value)}
        />
        {!isOne && !hasEach && (
          <Button variant="plain" onClick={() => setHasEach(true)}>
            A note for each
          </Button>
        )}
        {hasEach &&
          marked.map(({ parcel, goods }) => (
            <TextField
              key={keyOf(goods)}
              id={`note-${keyOf(goods)}`}
              label={`${goods.name} for ${nameOf(parcel)}`}
              optional
              maxLength={NOTE_LENGTH}
              autoComplete="off"
              value={notes[keyOf(goods)] ?? ''}
              onChange={({ target }) => setNotes({ ...notes, [keyOf(goods)]: target.value })}
            />
          ))}
      </div>
    </ActionDialog>
  );
}
