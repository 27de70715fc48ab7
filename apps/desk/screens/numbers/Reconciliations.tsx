import { Link } from 'react-router';
import { Offers } from '../../components/Offers.tsx';
import { Tag } from '../../components/Tag.tsx';
import { Time } from '../../components/Time.tsx';
import { counted } from '../../lib/words.ts';
import type { Nights } from './loadNumbers.ts';
import styles from './Numbers.module.css';

/** Whether Stripe's money and our members matched in the last nights. */
export function Reconciliations({ nights }: { nights: Nights }) {
  if (nights.length === 0) return <p>Stripe’s money has not been compared with the members yet.</p>;
  return (
    <ol className={styles.nights}>
      {nights.map(({ at, payments, differences }) => (
        <li key={at}>
          <p className={styles.night}>
            <Time at={at} />
            <Tag tone={differences.length === 0 ? 'good' : 'bad'}>
              {differences.length === 0 ? 'no difference' : counted(differences.length, 'difference')}
            </Tag>
            <span className={styles.small}>{counted(payments, 'payment')}</span>
          </p>
          {differences.length > 0 && (
            <ul>
              {differences.map(({ text, intent, person, offers, advice }, index) => (
                <li key={text + intent + person?.id}>
                  <p id={`difference-${at}-${index}`}>
                    {text} {intent && <span className={styles.small}>{intent}</span>}{' '}
                    {person && (
                      <Link to={`/people/${person.id}`}>{person.name ?? `Person ${person.id}`}</Link>
                    )}
                  </p>
                  <Offers offers={offers} advice={advice} of={`difference-${at}-${index}`} />
                </li>
              ))}
            </ul>
          )}
        </li>
      ))}
    </ol>
  );
}
