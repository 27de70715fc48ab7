import { useCallback } from 'react';
import { Alert } from '#ui/Alert.tsx';
import { Button } from '#ui/Button.tsx';
import { Bones } from '#ui/Skeleton.tsx';
import { PartFailed } from '../../components/Failed.tsx';
import table from '../../components/Table.module.css';
import { Time } from '../../components/Time.tsx';
import { call } from '../../lib/call.ts';
import { useDoing } from '../../lib/useDoing.ts';
import { useLoaded } from '../../lib/useLoaded.ts';
import { usePerson } from './loadPerson.ts';
import styles from './Person.module.css';

/** What would be written to HubSpot now. HubSpot is asked when this tab is opened. */
export function Hubspot() {
  const { start } = useDoing();
  const person = usePerson();
  const { id } = person;
  const { data, error, tryAgain } = useLoaded(
    // biome-ignore lint/correctness/useExhaustiveDependencies: what is to be written may follow from what was done
    useCallback((signal) => call('getPersonAtHubspot', { params: { id: String(id) }, signal }), [id, person]),
  );
  if (error)
    return (
      <div className={styles.tab}>
        <PartFailed error={error} isTrying={false} onTry={tryAgain} />
      </div>
    );
  if (!data)
    return (
      <div className={styles.tab}>
        <span className="sr" role="status">
          Loading
        </span>
        <Bones count={5} />
      </div>
    );
  const { contactId, refusal, waitsSince, changes } = data;
  return (
    <div className={styles.tab}>
      <p>{contactId ? `Contact ${contactId}.` : 'No contact yet: HubSpot gets a new one.'}</p>
      <div className={styles.row}>
        <Button variant="second" slim onClick={() => start('retry-hubspot')}>
          Send to HubSpot again
        </Button>
        <Button variant="second" slim onClick={() => start('link-contact')}>
          Link to a contact
        </Button>
      </div>
      {waitsSince && (
        <p>
          This waits to be written since <Time at={waitsSince} />.
        </p>
      )}
      {refusal && <Alert>HubSpot says: {refusal}</Alert>}
      {changes.length === 0 ? (
        <p>Nothing to write.</p>
      ) : (
        <table className={table.table}>
          <caption>What would be written</caption>
          <thead>
            <tr>
              <th scope="col">Property</th>
              <th scope="col">From</th>
              <th scope="col">To</th>
            </tr>
          </thead>
          <tbody>
            {changes.map(({ property, from, to }) => (
              <tr key={property}>
                <th scope="row">{property}</th>
                <td>{from ?? <span className={`${styles.small} ${styles.whole}`}>nothing</span>}</td>
                <td>{to}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </div>
  );
}
