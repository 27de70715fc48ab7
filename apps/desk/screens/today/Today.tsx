import { Link, useLoaderData } from 'react-router';
import type { DeskData } from '#contract/deskSchemas.ts';
import { PageHeading } from '#ui/PageHeading.tsx';
import { Section } from '../../components/Section.tsx';
import { Tag } from '../../components/Tag.tsx';
import { Time } from '../../components/Time.tsx';
import { counted, providerWords, queueWords } from '../../lib/words.ts';
import styles from './Today.module.css';

type Data = DeskData<'getToday'>;

/** The server counts no further. */
const MOST_COUNTED = 1_000;

/** What is to be done today, and whether everything runs. */
export function Today() {
  const { queues, notices, providers, reconciled, week } = useLoaderData() as Data;
  const waiting = queues.filter(({ count }) => count > 0);
  return (
    <>
      <PageHeading title="Today" />
      {waiting.length === 0 && notices.length === 0 && <Nothing week={week} />}
      {waiting.length > 0 && (
        <Section title="To do">
          <ul className={styles.queues}>
            {waiting.map(({ name, count, oldest }) => (
              <li key={name}>
                <span className={styles.count}>{count < MOST_COUNTED ? count : '1,000+'}</span>
                <span>{queueWords[name]}</span>
                {oldest && (
                  <small>
                    oldest from <Time at={oldest} day />
                  </small>
                )}
              </li>
            ))}
          </ul>
        </Section>
      )}
      {notices.length > 0 && (
        <Section title="Notices">
          <ul className={styles.notices}>
            {notices.map((notice) => (
              <Notice key={notice.id} notice={notice} />
            ))}
          </ul>
        </Section>
      )}
      <Section title="Providers">
        <dl className={styles.providers}>
          {providers.map(({ name, troubleSince }) => (
            <div key={name}>
              <dt>{providerWords[name]}</dt>
              <dd>
                {troubleSince === null ? (
                  <Tag tone="good">answering</Tag>
                ) : (
                  <Tag tone="bad">
                    not answering since <Time at={troubleSince} />
                  </Tag>
                )}
              </dd>
            </div>
          ))}
          <div>
            <dt>Money compared with Stripe</dt>
            <dd>
              <Reconciled reconciled={reconciled} />
            </dd>
          </div>
        </dl>
      </Section>
    </>
  );
}

function Nothing({ week: { begun, paid } }: Pick<Data, 'week'>) {
  return (
    <div className={styles.nothing}>
      <p className={styles.nothingWords}>Nothing to do.</p>
      <p>
        In the last seven days {counted(begun, 'join')} began, and {paid.toLocaleString('en-US')}{' '}
        {paid === 1 ? 'was' : 'were'} paid.
      </p>
    </div>
  );
}

function Notice({ notice: { text, person, count, since, last } }: { notice: Data['notices'][number] }) {
  return (
    <li>
      <p>{text}</p>
      <p className={styles.when}>
        {person && <Link to={`/people/${person.id}`}>{person.name ?? `Person ${person.id}`}</Link>}
        {count === 1 ? (
          <span>
            <Time at={since} />
          </span>
        ) : (
          <span>
            {count.toLocaleString('en-US')} times since <Time at={since} />, last <Time at={last} />
          </span>
        )}
      </p>
    </li>
  );
}

function Reconciled({ reconciled }: Pick<Data, 'reconciled'>) {
  if (!reconciled) return <>not yet</>;
  const { at, differences } = reconciled;
  return (
    <>
      <Tag tone={differences === 0 ? 'good' : 'bad'}>
        {differences === 0 ? 'no difference' : counted(differences, 'difference')}
      </Tag>{' '}
      <Time at={at} />
    </>
  );
}
