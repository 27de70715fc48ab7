import { Form, Link } from 'react-router';
import { addressOf } from '#client/deskClient.ts';
import { type DeskCallName, deskCalls, isRecorded } from '#contract/deskCalls.ts';
import { callWords } from '#core/staff.ts';
import { Button, buttonClass } from '#ui/Button.tsx';
import { TextField } from '#ui/Field.tsx';
import { SelectField } from '#ui/SelectField.tsx';
import { ShowMore } from '../../components/ShowMore.tsx';
import table from '../../components/Table.module.css';
import { Tag } from '../../components/Tag.tsx';
import { Time } from '../../components/Time.tsx';
import { call } from '../../lib/call.ts';
import { useMore } from '../../lib/useMore.ts';
import type { StaffData } from './loadStaff.ts';
import styles from './Staff.module.css';

const tones = { done: 'plain', refused: 'bad', failed: 'bad' } as const;

/** The calls that are recorded, sorted by their names in words. */
const actions = (Object.keys(deskCalls) as DeskCallName[])
  .filter(isRecorded)
  .map((name) => ({ value: name, label: callWords(name) }))
  .sort((one, other) => one.label.localeCompare(other.label));

/** What staff did, the latest first, with filters that are in the URL. */
export function Events({ data }: { data: StaffData }) {
  const { staff, events, filter } = data;
  const list = useMore(events, (next) => call('searchEvents', { body: { ...filter, next } }));
  return (
    <>
      <Form className={styles.filter} preventScrollReset key={JSON.stringify(filter)}>
        <SelectField
          id="event-name"
          name="name"
          label="Person"
          placeholder="All"
          defaultValue={filter.name ?? ''}
          options={staff.map(({ name }) => ({ value: name, label: name }))}
        />
        <SelectField
          id="event-action"
          name="action"
          label="Action"
          placeholder="All"
          defaultValue={filter.action ?? ''}
          options={actions}
        />
        <TextField id="event-day" name="day" label="Day" type="date" defaultValue={filter.day ?? ''} />
        <div className={styles.buttons}>
          <Button slim variant="second" type="submit">
            Show
          </Button>
          <a
            className={buttonClass({ variant: 'plain' })}
            href={addressOf('getEventsFile', {}, filter as Record<string, string>)}
            download
          >
            Download CSV
          </a>
        </div>
      </Form>
      {list.rows.length === 0 ? (
        <p>Staff have done nothing of this.</p>
      ) : (
        <table className={table.table}>
          <caption className="sr">What staff did</caption>
          <thead>
            <tr>
              <th scope="col">When</th>
              <th scope="col">Who</th>
              <th scope="col">What</th>
            </tr>
          </thead>
          <tbody>
            {list.rows.map(({ at, name, what, subject, person, outcome }, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: rows have no names of their own, and do not move
              <tr key={index}>
                <td>
                  <Time at={at} />
                </td>
                <td className={styles.who}>{name}</td>
                <td>
                  {what} {outcome !== 'done' && <Tag tone={tones[outcome]}>{outcome}</Tag>}
                  {person === null ? (
                    subject && <p className={styles.small}>{subject}</p>
                  ) : (
                    <p>
                      <Link to={`/people/${person}`}>Person {person}</Link>
                    </p>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <ShowMore list={list} onPress={() => void list.showMore()} />
    </>
  );
}
