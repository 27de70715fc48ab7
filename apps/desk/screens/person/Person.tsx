import { lazy, Suspense } from 'react';
import { Outlet, useLoaderData } from 'react-router';
import { PageHeading } from '#ui/PageHeading.tsx';
import { Offers } from '../../components/Offers.tsx';
import { Tabs } from '../../components/Tabs.tsx';
import { useDoing } from '../../lib/useDoing.ts';
import { Actions } from './Actions.tsx';
import { nameOf, type PersonData } from './loadPerson.ts';
import styles from './Person.module.css';

/** The code of all dialogs is loaded when the first dialog opens. */
const Doing = lazy(() => import('./doing/Doing.tsx'));

const tabs = [
  ['', 'Overview'],
  ['story', 'Story'],
  ['letters', 'Letters'],
  ['documents', 'Documents'],
  ['hubspot', 'HubSpot'],
] as const;

/** The page of one person. */
export function Person() {
  const person = useLoaderData() as PersonData;
  const { doing } = useDoing();
  const name = nameOf(person);
  return (
    <>
      <PageHeading key={person.id} title={name} />
      <p className={styles.standing}>{person.standing}</p>
      <Actions person={person} />
      {person.problems.length > 0 && (
        <section className={styles.problems} aria-labelledby="problems">
          <h2 id="problems">Problems</h2>
          <ul>
            {person.problems.map(({ text, ...offered }, index) => (
              <li key={text}>
                <p id={`problem-${index}`}>{text}</p>
                <Offers {...offered} of={`problem-${index}`} />
              </li>
            ))}
          </ul>
        </section>
      )}
      <Tabs
        label={name}
        tabs={tabs.map(([path, word]) => ({
          to: `/people/${person.id}${path && `/${path}`}`,
          name: word,
        }))}
      />
      <Outlet key={person.id} context={person} />
      {doing !== null && (
        <Suspense>
          <Doing person={person} />
        </Suspense>
      )}
    </>
  );
}
