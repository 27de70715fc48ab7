import { Link } from 'react-router';
import { Button } from '#ui/Button.tsx';
import table from '../../components/Table.module.css';
import { Tag } from '../../components/Tag.tsx';
import { counted } from '../../lib/words.ts';
import { type Chosen, type Goods, keyOf, nameOf, type Parcel } from './loadParcels.ts';
import styles from './Parcels.module.css';

interface Ticks {
  isTicked: (goods: Goods) => boolean;
  tick: (goods: readonly Goods[], isOn: boolean) => void;
  /** All goods that have a checkbox. */
  all: readonly Goods[];
}

interface Action {
  name: string;
  press: (chosen: Chosen) => void;
  needsAddress?: boolean;
}

/**
 * A table of parcels with a line for each of their goods. Each line has a checkbox or a button, unless that needs an address and
 * there is none.
 */
export function ParcelTable({
  caption,
  rows,
  ticks,
  action,
  hasStates = false,
  isDone = false,
}: {
  caption: string;
  rows: readonly Parcel[];
  ticks?: Ticks;
  action?: Action;
  /** Whether the state of the goods is shown in each line. */
  hasStates?: boolean;
  /** Whether all parcels in the table have been sent. */
  isDone?: boolean;
}) {
  return (
    <table className={`${table.table} ${styles.parcels}`}>
      <caption className="sr">{caption}</caption>
      <thead>
        <tr>
          <th scope="col">Name</th>
          <th scope="col" className={styles.wide}>
            Address
          </th>
          <th scope="col">{ticks ? <AllTick ticks={ticks} /> : 'Goods'}</th>
          {!isDone && (
            <th scope="col" className={styles.wide}>
              Waiting
            </th>
          )}
          {action && <td />}
        </tr>
      </thead>
      {rows.map((parcel) => (
        <tbody key={keyOf(parcel.goods[0]!)}>
          {parcel.goods.map((goods, index) => (
            <tr key={keyOf(goods)}>
              {index === 0 && <Who parcel={parcel} isDone={isDone} />}
              <td className={styles.goods}>
                {ticks && parcel.address !== null ? (
                  <label className={styles.tick}>
                    <input
                      type="checkbox"
                      checked={ticks.isTicked(goods)}
                      aria-describedby={idOf(parcel)}
                      onChange={({ target }) => ticks.tick([goods], target.checked)}
                    />
                    <span>{goods.name}</span>
                  </label>
                ) : (
                  <p className={styles.untickable}>{goods.name}</p>
                )}
                {hasStates && <p className={styles.small}>{goods.state}</p>}
              </td>
              {index === 0 && !isDone && (
                <td className={`${styles.wide} ${styles.whole}`} rowSpan={parcel.goods.length}>
                  {counted(parcel.days, 'day')}
                </td>
              )}
              {action && (
                <td className={styles.action}>
                  {!(action.needsAddress && parcel.address === null) && (
                    <Button
                      variant="plain"
                      aria-label={`${action.name}: ${goods.name} for ${nameOf(parcel)}`}
                      onClick={() => action.press({ parcel, goods })}
                    >
                      {action.name}
                    </Button>
                  )}
                </td>
              )}
            </tr>
          ))}
        </tbody>
      ))}
    </table>
  );
}

const idOf = ({ goods }: Parcel) => `parcel-${keyOf(goods[0]!)}`;

function AllTick({ ticks: { all, isTicked, tick } }: { ticks: Ticks }) {
  return (
    <label className={styles.tick}>
      <input
        type="checkbox"
        checked={all.length > 0 && all.every(isTicked)}
        disabled={all.length === 0}
        onChange={({ target }) => tick(all, target.checked)}
      />
      <span>All goods</span>
    </label>
  );
}

/** The recipient of a parcel and the address, which share a cell on phones. */
function Who({ parcel, isDone }: { parcel: Parcel; isDone: boolean }) {
  const { person, address, days, goods } = parcel;
  const where = address ?? (
    <>
      <Tag tone="bad">No address</Tag> <Link to={`/people/${person}`}>Correct</Link>
    </>
  );
  return (
    <>
      <th scope="rowgroup" rowSpan={goods.length} id={idOf(parcel)}>
        <Link className={styles.name} to={`/people/${person}`}>
          {nameOf(parcel)}
        </Link>
        <div className={`${styles.narrow} ${styles.small}`}>
          <p>{where}</p>
          {!isDone && <p>{counted(days, 'day')}</p>}
        </div>
      </th>
      <td className={styles.wide} rowSpan={goods.length}>
        {where}
      </td>
    </>
  );
}
