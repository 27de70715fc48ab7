import { Link } from 'react-router';
import { Section } from '../../components/Section.tsx';
import { JoinCard } from './JoinCard.tsx';
import { nameOf, usePerson } from './loadPerson.ts';
import styles from './Person.module.css';

/** The person's details, orders and payments, and other persons who may be the same. */
export function Overview() {
  const person = usePerson();
  const [newest, ...earlier] = [...person.joins].sort((one, other) => other.number - one.number);
  return (
    <div className={styles.columns}>
      <div>
        {newest && (
          <Section title="Order">
            <JoinCard join={newest} isOnly={earlier.length === 0} />
          </Section>
        )}
        {earlier.length > 0 && (
          <Section title="Other joins of this person">
            {earlier.map((join) => (
              <JoinCard key={join.number} join={join} isOnly={false} />
            ))}
          </Section>
        )}
      </div>
      <div>
        <Section title="Details">
          <dl className={styles.details}>
            {person.details.map(({ label, value }) => (
              <div key={label}>
                <dt>{label}</dt>
                <dd>{value}</dd>
              </div>
            ))}
            {person.email && !person.details.some(({ value }) => value === person.email) && (
              <div>
                <dt>Email</dt>
                <dd>{person.email}</dd>
              </div>
            )}
            {person.contactId && (
              <div>
                <dt>HubSpot contact</dt>
                <dd>{person.contactId}</dd>
              </div>
            )}
          </dl>
        </Section>
        {person.codes.length > 0 && (
          <Section title="Invite codes">
            <ul className={styles.list}>
              {person.codes.map(({ code, isUsed }) => (
                <li key={code}>
                  <span className={styles.code}>{code}</span>
                  <span className={styles.small}>{isUsed ? 'used' : 'not used'}</span>
                </li>
              ))}
            </ul>
          </Section>
        )}
        {person.others.length > 0 && (
          <Section title="Likely the same person">
            <ul className={styles.list}>
              {person.others.map((other) => (
                <li key={other.id}>
                  <Link to={`/people/${other.id}`}>{nameOf(other)}</Link>
                  <span className={styles.small}>{other.name && other.email}</span>
                </li>
              ))}
            </ul>
          </Section>
        )}
      </div>
    </div>
  );
}
