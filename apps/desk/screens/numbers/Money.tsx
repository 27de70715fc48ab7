import { useState } from 'react';
import { useSearchParams } from 'react-router';
import { addressOf } from '#client/deskClient.ts';
import { messageOf } from '#client/failures.ts';
import { displayPrice } from '#core/money.ts';
import { Alert } from '#ui/Alert.tsx';
import { Button, buttonClass } from '#ui/Button.tsx';
import { SelectField } from '#ui/SelectField.tsx';
import { Stack } from '#ui/Text.tsx';
import { usePoll } from '#ui/usePoll.ts';
import table from '../../components/Table.module.css';
import { Time } from '../../components/Time.tsx';
import { Wide } from '../../components/Wide.tsx';
import { call } from '../../lib/call.ts';
import { counted } from '../../lib/words.ts';
import type { Ledger, MoneyData } from './loadNumbers.ts';
import styles from './Numbers.module.css';

const POLL_MS = 2_000;

/** The money of one month, according to Stripe. It is read on request, and then stored. */
export function Money({ money: { months, month, ledger } }: { money: MoneyData }) {
  const [query, setQuery] = useSearchParams();
  return (
    <>
      <div className={styles.period}>
        <SelectField
          id="month"
          label="Month"
          hint="Days are in UTC, as at Stripe."
          options={months}
          value={month}
          onChange={({ target }) => {
            query.set('month', target.value);
            setQuery(query, { preventScrollReset: true, replace: true });
          }}
        />
      </div>
      <Month key={month} month={month} loaded={ledger} />
    </>
  );
}

function Month({ month, loaded }: { month: string; loaded: Ledger }) {
  const [ledger, setLedger] = useState(loaded);
  const [isBusy, setBusy] = useState(false);
  const [fault, setFault] = useState<string | null>(null);
  usePoll(ledger?.isReading ?? false, POLL_MS, async (signal) => {
    try {
      const now = await call('getLedger', { query: { month }, signal });
      setLedger(now.ledger);
      return !now.ledger?.isReading;
    } catch {
      return false;
    }
  });
  const read = async () => {
    setBusy(true);
    setFault(null);
    try {
      setLedger((await call('readLedger', { body: { month } })).ledger);
    } catch (failure) {
      setFault(messageOf(failure, 'This could not be loaded.'));
    }
    setBusy(false);
  };
  const summary = ledger?.summary;
  const said = fault ?? (ledger?.isReading ? null : ledger?.fault);
  return (
    <Stack>
      {said && <Alert>{said}</Alert>}
      {ledger?.isReading ? (
        <p role="status">
          Reading from Stripe: {counted(ledger.transactions, 'transaction')} so far. You may leave this page
          meanwhile.
        </p>
      ) : (
        <Button variant="second" slim busy={isBusy && 'Asking…'} onClick={() => void read()}>
          {ledger?.readAt ? 'Read again' : 'Read this month from Stripe'}
        </Button>
      )}
      {summary && ledger.readAt && (
        <>
          {summary.faults.map((each) => (
            <Alert key={each}>{each}</Alert>
          ))}
          <Kinds summary={summary} />
          <p className={styles.small}>
            Read <Time at={ledger.readAt} /> for {ledger.askedBy}:{' '}
            {counted(summary.balance.count, 'transaction')}
            {summary.others.count > 0 &&
              `, of which ${summary.others.count} are of other apps and not in the file`}
            .
          </p>
          <a
            className={buttonClass({ variant: 'second', slim: true })}
            href={addressOf('getLedgerFile', {}, { month })}
            download
          >
            Download ledger
          </a>
        </>
      )}
    </Stack>
  );
}

function Kinds({ summary: { kinds } }: { summary: NonNullable<NonNullable<Ledger>['summary']> }) {
  if (kinds.length === 0) return <p>No money moved in this month.</p>;
  const net = ({ grossCents, refundsCents, feeCents }: (typeof kinds)[number]) =>
    grossCents + refundsCents - feeCents;
  const rows = kinds.map(
    (each) => [each.kind, each.grossCents, each.feeCents, each.refundsCents, net(each)] as const,
  );
  const sum = (column: 1 | 2 | 3 | 4) => rows.reduce((total, row) => total + row[column], 0);
  return (
    <Wide label="Money by kind">
      <table className={table.table}>
        <caption className="sr">Money by kind</caption>
        <thead>
          <tr>
            <th scope="col">Kind</th>
            {['Gross', 'Fee', 'Refunds', 'Net'].map((name) => (
              <th key={name} scope="col" className={table.money}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(([kind, ...amounts]) => (
            <tr key={kind}>
              <th scope="row">{kind}</th>
              <Amounts amounts={amounts} />
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row">All</th>
            <Amounts amounts={[sum(1), sum(2), sum(3), sum(4)]} />
          </tr>
        </tfoot>
      </table>
    </Wide>
  );
}

function Amounts({ amounts }: { amounts: readonly number[] }) {
  return amounts.map((cents, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: columns do not move
    <td key={index} className={table.money}>
      {cents < 0 ? '−' : ''}
      {displayPrice(Math.abs(cents))}
    </td>
  ));
}
