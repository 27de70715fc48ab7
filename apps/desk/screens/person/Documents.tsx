import table from '../../components/Table.module.css';
import { Tag } from '../../components/Tag.tsx';
import { Time } from '../../components/Time.tsx';
import { documentWords, reviewWords, sizeWords } from '../../lib/words.ts';
import { type PersonData, usePerson } from './loadPerson.ts';
import styles from './Person.module.css';

/** The documents of a person, and what was decided of them. */
export function Documents() {
  const { documents } = usePerson();
  if (documents.length === 0) return <p className={styles.tab}>No document was uploaded.</p>;
  return (
    <div className={styles.tab}>
      <table className={table.table}>
        <caption className="sr">Documents</caption>
        <thead>
          <tr>
            <th scope="col">Document</th>
            <th scope="col" className={styles.wide}>
              Uploaded
            </th>
            <th scope="col" className={styles.wide}>
              Decision
            </th>
          </tr>
        </thead>
        <tbody>
          {documents.map((document) => (
            <Row key={document.id} document={document} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

const tones = { open: 'plain', accepted: 'good', rejected: 'bad' } as const;

function Row({
  document: { kind, name, sizeBytes, uploadedAt, review, reason, reviewedAt, isRemoved },
}: {
  document: PersonData['documents'][number];
}) {
  const decision = (
    <>
      {kind === 'transcript' && <Tag tone={tones[review]}>{reviewWords[review]}</Tag>}{' '}
      {reviewedAt && <Time at={reviewedAt} />}
      {reason && <p>{reason}</p>}
    </>
  );
  return (
    <tr>
      <th scope="row">
        {name}
        <p className={styles.small}>
          {documentWords[kind]}, {sizeWords(sizeBytes)}
          {isRemoved && ', removed'}
        </p>
        <div className={`${styles.narrow} ${styles.small}`}>
          <Time at={uploadedAt} />
          {decision}
        </div>
      </th>
      <td className={styles.wide}>
        <Time at={uploadedAt} />
      </td>
      <td className={styles.wide}>{decision}</td>
    </tr>
  );
}
