import { Form, Link, useLoaderData } from 'react-router';
import { Alert } from '#ui/Alert.tsx';
import { Button } from '#ui/Button.tsx';
import { TextField } from '#ui/Field.tsx';
import { PageHeading } from '#ui/PageHeading.tsx';
import { SelectField } from '#ui/SelectField.tsx';
import { Stack } from '#ui/Text.tsx';
import { Section } from '../../components/Section.tsx';
import { useMe } from '../../lib/me.ts';
import { Funnel } from './Funnel.tsx';
import { JoinsPicture } from './JoinsPicture.tsx';
import type { Asked, Numbers as Counted, NumbersData } from './loadNumbers.ts';
import { Money } from './Money.tsx';
import styles from './Numbers.module.css';
import { lastMonth, thisMonth, thisYear, today } from './periods.ts';
import { Reconciliations } from './Reconciliations.tsx';

const keys = [
  { value: 'day', label: 'day' },
  { value: 'programme', label: 'programme' },
  { value: 'school', label: 'school' },
  { value: 'campaign', label: 'campaign' },
];

/** The page Numbers: how many joined in a period, and at which step the others stopped. */
export function Numbers() {
  const { asked, numbers, fault, money } = useLoaderData() as NumbersData;
  return (
    <>
      <PageHeading title="Numbers" />
      <Period asked={asked} />
      {fault && (
        <Stack>
          <Alert isAnswer>{fault}</Alert>
        </Stack>
      )}
      {numbers && <Joins asked={asked} numbers={numbers} />}
      {money && (
        <>
          <Section title="Money">
            <Money money={money} />
          </Section>
          <Section title="Reconciliation" id="reconciliation">
            <Reconciliations nights={money.nights} />
          </Section>
        </>
      )}
    </>
  );
}

function Joins({ asked, numbers }: { asked: Asked; numbers: Counted }) {
  const isEmpty = numbers.total.started === 0;
  return (
    <>
      <Section title="Joins">
        {isEmpty ? (
          <p>No joins began in this period.</p>
        ) : (
          <JoinsPicture period={asked} days={numbers.days} />
        )}
      </Section>
      {(!isEmpty || numbers.total.invited > 0) && (
        <Section title="Funnel">
          <Funnel asked={asked} numbers={numbers} />
        </Section>
      )}
    </>
  );
}

function Period({ asked }: { asked: Asked }) {
  const { timeZone } = useMe();
  const day = today(timeZone);
  const periods = [
    ['This month', thisMonth(day)],
    ['Last month', lastMonth(day)],
    ['This year', thisYear(day)],
  ] as const;
  return (
    <>
      <p className={styles.periods}>
        {periods.map(([name, { from, to }]) => (
          <Link key={name} to={`?${new URLSearchParams({ from, to, by: asked.by })}`} preventScrollReset>
            {name}
          </Link>
        ))}
      </p>
      <Form className={styles.period} preventScrollReset key={JSON.stringify(asked)}>
        <TextField id="from" name="from" label="From" type="date" required defaultValue={asked.from} />
        <TextField id="to" name="to" label="To" type="date" required defaultValue={asked.to} />
        <SelectField id="by" name="by" label="By" options={keys} defaultValue={asked.by} />
        <Button slim variant="second" type="submit">
          Show
        </Button>
      </Form>
    </>
  );
}
