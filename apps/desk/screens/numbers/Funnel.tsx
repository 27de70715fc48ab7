import { addressOf } from '#client/deskClient.ts';
import { type Funnel as Counts, type FunnelStep, funnelSteps, stepBefore } from '#core/funnel.ts';
import { buttonClass } from '#ui/Button.tsx';
import table from '../../components/Table.module.css';
import { Wide } from '../../components/Wide.tsx';
import type { Asked, Numbers } from './loadNumbers.ts';
import styles from './Numbers.module.css';
import { wordsOfDay } from './periods.ts';

const stepWords: Record<FunnelStep, string> = {
  invited: 'Invited',
  started: 'Started',
  details: 'Details',
  membership: 'Membership',
  paid: 'Paid',
  upgraded: 'Upgraded',
  proofAccepted: 'Proof accepted',
};

/** The name of the row of joins without a programme, school or campaign. */
const noKey: Record<Asked['by'], string> = {
  day: '',
  programme: 'Chosen when joining',
  school: 'Not known',
  campaign: 'No campaign',
};

/** The numbers of each step: for the whole period, and by day, programme, school or campaign. */
export function Funnel({ asked, numbers: { rows, total } }: { asked: Asked; numbers: Numbers }) {
  return (
    <>
      <Wide label="The whole period">
        <table className={`${table.table} ${styles.funnel}`}>
          <caption className="sr">The whole period</caption>
          <thead>
            <tr>
              <th scope="col">Step</th>
              <th scope="col" className={table.money}>
                Number
              </th>
              <th scope="col" className={table.money}>
                Of the step before
              </th>
              <td className={styles.barCell} />
            </tr>
          </thead>
          <tbody>
            {funnelSteps.map((step) => (
              <tr key={step}>
                <th scope="row">{stepWords[step]}</th>
                <td className={table.money}>{total[step].toLocaleString('en-US')}</td>
                <td className={table.money}>{shareOf(total, step)}</td>
                <td className={styles.barCell}>
                  <progress
                    aria-hidden
                    max={Math.max(1, ...funnelSteps.map((each) => total[each]))}
                    value={total[step]}
                  />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Wide>
      <p className={styles.note}>
        Joins that began in this period, by how far they have come until now. Invited are the codes that were
        made in it{asked.by === 'school' && '; personal codes belong to no school'}.
      </p>
      <p>
        <a
          className={buttonClass({ variant: 'plain' })}
          href={addressOf('getNumbersFile', {}, asked)}
          download
        >
          Download CSV
        </a>
      </p>
      <Wide label={`By ${asked.by}`}>
        <table className={table.table}>
          <caption>By {asked.by}</caption>
          <thead>
            <tr>
              <th scope="col">{asked.by.charAt(0).toUpperCase() + asked.by.slice(1)}</th>
              {funnelSteps.map((step) => (
                <th key={step} scope="col" className={table.money}>
                  {stepWords[step]}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows
              .filter((row) => funnelSteps.some((step) => row[step] > 0))
              .map((row) => (
                <tr key={row.key}>
                  <th scope="row">
                    {row.key === null ? noKey[asked.by] : asked.by === 'day' ? wordsOfDay(row.key) : row.key}
                  </th>
                  {funnelSteps.map((step) => (
                    <td key={step} className={table.money}>
                      {row[step].toLocaleString('en-US')}
                    </td>
                  ))}
                </tr>
              ))}
          </tbody>
        </table>
      </Wide>
    </>
  );
}

/**
 * Returns the share of a step, as a percentage of the step before it. Empty if it is more than 100 %: a school's code, which
 * counts as one invitation, starts many joins. If the step before is not in the row above, its name is included.
 */
function shareOf(counts: Counts, step: FunnelStep): string {
  const before = stepBefore[step];
  if (before === null || counts[before] === 0 || counts[step] > counts[before]) return '';
  const isAbove = funnelSteps[funnelSteps.indexOf(step) - 1] === before;
  return `${Math.round((counts[step] / counts[before]) * 100)}%${isAbove ? '' : ` of ${stepWords[before].toLowerCase()}`}`;
}
