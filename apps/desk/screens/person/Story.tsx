import { useSearchParams } from 'react-router';
import { Checkbox } from '#ui/Field.tsx';
import { Time } from '../../components/Time.tsx';
import { usePerson } from './loadPerson.ts';
import styles from './Person.module.css';

/** Everything that happened, in one order. */
export function Story() {
  const { story, joins } = usePerson();
  const [query, setQuery] = useSearchParams();
  const isFiltered = query.has('staff');
  const shown = isFiltered ? story.filter(({ isStaff }) => isStaff) : story;
  return (
    <>
      <div className={styles.filter}>
        <Checkbox
          id="staff-only"
          label="Staff only"
          checked={isFiltered}
          onChange={({ target }) =>
            setQuery(target.checked ? { staff: '' } : {}, { replace: true, preventScrollReset: true })
          }
        />
      </div>
      {shown.length === 0 ? (
        <p>{isFiltered ? 'Staff have done nothing here.' : 'Nothing has happened yet.'}</p>
      ) : (
        <ol className={styles.story}>
          {shown.map(({ at, text, by, join }, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: steps have no names of their own, and do not move
            <li key={index}>
              <Time at={at} />
              <span>{text}</span>
              <span className={styles.by}>
                {by}
                {join !== null && joins.length > 1 && `, join ${join}`}
              </span>
            </li>
          ))}
        </ol>
      )}
    </>
  );
}
