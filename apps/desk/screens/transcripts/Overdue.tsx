import { useState } from 'react';
import { Link } from 'react-router';
import { MOST_MARKED } from '#contract/deskLimits.ts';
import { Note } from '#ui/Alert.tsx';
import { Button } from '#ui/Button.tsx';
import { ActionDialog } from '../../components/ActionDialog.tsx';
import styles from '../../components/Rows.module.css';
import table from '../../components/Table.module.css';
import { Time } from '../../components/Time.tsx';
import { people } from '../../lib/words.ts';
import type { Listed } from './loadTranscripts.ts';
import own from './Transcripts.module.css';

type Row = Listed['rows'][number];
const keyOf = ({ id, join }: Row) => `${id}/${join}`;

/** The members whose proof is overdue. Staff can remind those that are ticked. `of` is the list that was loaded last. */
export function Overdue({ rows, of }: { rows: readonly Row[]; of: Listed }) {
  const [ticked, setTicked] = useState({ of, keys: new Set<string>() });
  // Ticks of an earlier list do not count, since those members may have been reminded meanwhile.
  const keys = ticked.of === of ? ticked.keys : new Set<string>();
  const [isOpen, setOpen] = useState(false);
  const [fault, setFault] = useState<string | null>(null);
  const chosen = rows.filter((row) => keys.has(keyOf(row)));
  const tick = (which: readonly Row[], isOn: boolean) => {
    const now = new Set(keys);
    for (const row of which) now[isOn ? 'add' : 'delete'](keyOf(row));
    setTicked({ of, keys: now });
    setFault(null);
  };
  const open = () => {
    if (chosen.length === 0) setFault('Tick who is to be reminded first.');
    else if (chosen.length > MOST_MARKED) setFault(`At most ${MOST_MARKED} can be reminded at once.`);
    else setOpen(true);
  };
  const remind = chosen.length === 0 ? 'Remind' : `Remind ${people(chosen.length)}`;
  return (
    <>
      <div className={own.bar}>
        <Button slim onClick={open}>
          {remind}
        </Button>
      </div>
      {fault && <Note isAnswer>{fault}</Note>}
      <table className={`${table.table} ${styles.rows}`}>
        <caption className="sr">Overdue</caption>
        <thead>
          <tr>
            <th scope="col" className={own.ticks}>
              <label className={own.tick}>
                <input
                  type="checkbox"
                  checked={rows.every((row) => keys.has(keyOf(row)))}
                  onChange={({ target }) => tick(rows, target.checked)}
                />
                <span>All</span>
              </label>
            </th>
            <th scope="col">Name</th>
            <th scope="col" className={`${styles.wide} ${styles.whole}`}>
              Paid
            </th>
            <th scope="col" className={styles.wide}>
              Programme
            </th>
            <th scope="col" className={`${styles.wide} ${styles.whole}`}>
              Reminded
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <OverdueRow
              key={keyOf(row)}
              row={row}
              isTicked={keys.has(keyOf(row))}
              onTick={(isOn) => tick([row], isOn)}
            />
          ))}
        </tbody>
      </table>
      {isOpen && (
        <ActionDialog
          asked={{
            name: 'remindOfProof',
            body: { people: chosen.map(({ id, join }) => ({ id, join })) },
          }}
          title={`${remind}?`}
          done="The letters are on their way."
          onClose={() => setOpen(false)}
        />
      )}
    </>
  );
}

function OverdueRow({
  row: { id, name, since, programme, remindedAt },
  isTicked,
  onTick,
}: {
  row: Row;
  isTicked: boolean;
  onTick: (isOn: boolean) => void;
}) {
  const who = name ?? `Person ${id}`;
  const reminded = remindedAt ? <Time at={remindedAt} day /> : 'never';
  return (
    <tr>
      <td className={own.ticks}>
        <label className={own.tick}>
          <input type="checkbox" checked={isTicked} onChange={({ target }) => onTick(target.checked)} />
          <span className="sr">{who}</span>
        </label>
      </td>
      <th scope="row">
        <Link to={`/people/${id}`} className={own.name}>
          {who}
        </Link>
        <span className={styles.narrow}>
          <span>{programme}</span>
          <span>
            paid <Time at={since} day />
          </span>
          <span>reminded {reminded}</span>
        </span>
      </th>
      <td className={`${styles.wide} ${styles.whole}`}>
        <Time at={since} day />
      </td>
      <td className={styles.wide}>{programme}</td>
      <td className={`${styles.wide} ${styles.whole}`}>{reminded}</td>
    </tr>
  );
}
