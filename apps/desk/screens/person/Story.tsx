import { useEffect, useState } from 'react';
import { useSearchParams } from 'react-router';
import { Button } from '#ui/Button.tsx';
import { Checkbox } from '#ui/Field.tsx';
import { ActionDialog } from '../../components/ActionDialog.tsx';
import { Time } from '../../components/Time.tsx';
import { AddNote } from './AddNote.tsx';
import { usePerson } from './loadPerson.ts';
import styles from './Person.module.css';

/** Everything that happened to a person, in order of time, including the notes of staff. */
export function Story() {
  const { id, story, joins } = usePerson();
  const [query, setQuery] = useSearchParams();
  const [removed, setRemoved] = useState<number | null>(null);
  // The URL changes a moment after the checkbox is ticked. Going back in the history changes the checkbox.
  const isInAddress = query.has('staff');
  const [isFiltered, setFiltered] = useState(isInAddress);
  useEffect(() => setFiltered(isInAddress), [isInAddress]);
  const shown = isFiltered ? story.filter(({ isStaff }) => isStaff) : story;
  return (
    <>
      <AddNote key={id} id={id} />
      <div className={styles.filter}>
        <Checkbox
          id="staff-only"
          label="Staff only"
          checked={isFiltered}
          onChange={({ target }) => {
            setFiltered(target.checked);
            setQuery(target.checked ? { staff: '' } : {}, { replace: true, preventScrollReset: true });
          }}
        />
      </div>
      {shown.length === 0 ? (
        <p>{isFiltered ? 'Staff have done nothing here.' : 'Nothing has happened yet.'}</p>
      ) : (
        <ol className={styles.story}>
          {shown.map(({ at, text, by, join, note }, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: steps have no names of their own, and do not move
            <li key={index}>
              <Time at={at} />
              <span className={styles.told} id={`step-${index}`}>
                {text}
              </span>
              <span className={styles.by}>
                {by}
                {join !== null && joins.length > 1 && `, join ${join}`}
                {note !== null && (
                  <Button
                    variant="plain"
                    aria-describedby={`step-${index}`}
                    onClick={() => setRemoved(note)}
                    className={styles.remove}
                  >
                    Remove
                  </Button>
                )}
              </span>
            </li>
          ))}
        </ol>
      )}
      {removed !== null && (
        <ActionDialog
          asked={{ name: 'removeNote', params: { id: String(removed) }, body: {} }}
          title="Remove this note?"
          done="The note is removed."
          onClose={() => setRemoved(null)}
        />
      )}
    </>
  );
}
