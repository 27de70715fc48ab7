import { useState } from 'react';
import { Link } from 'react-router';
import { Button, buttonClass } from '#ui/Button.tsx';
import { Dialog, DialogButtons } from '../../components/Dialog.tsx';
import table from '../../components/Table.module.css';
import { Tag } from '../../components/Tag.tsx';
import { Time } from '../../components/Time.tsx';
import { Download, Viewer } from '../../components/Viewer.tsx';
import { documentWords, reviewWords, sizeWords } from '../../lib/words.ts';
import { type PersonData, usePerson } from './loadPerson.ts';
import styles from './Person.module.css';

type Document = PersonData['documents'][number];

/** The documents of a person, and the decisions on them. */
export function Documents() {
  const { id, documents } = usePerson();
  const [shown, setShown] = useState<Document | null>(null);
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
            <td className={styles.actions} />
          </tr>
        </thead>
        <tbody>
          {documents.map((document) => (
            <Row key={document.id} person={id} document={document} onShow={() => setShown(document)} />
          ))}
        </tbody>
      </table>
      {shown && (
        <Dialog wide title={shown.name} onClose={() => setShown(null)}>
          <Viewer document={shown} />
          <DialogButtons>
            <Button variant="second" slim onClick={() => setShown(null)}>
              Close
            </Button>
          </DialogButtons>
        </Dialog>
      )}
    </div>
  );
}

const tones = { open: 'plain', accepted: 'good', rejected: 'bad' } as const;

/** A transcript is shown on its review page, a resume in a dialog. */
function Row({ person, document, onShow }: { person: number; document: Document; onShow: () => void }) {
  const { id, kind, name, sizeBytes, uploadedAt, review, reason, reviewedAt, isRemoved, join } = document;
  const named = `document-${id}`;
  const decision = (
    <>
      {kind === 'transcript' && <Tag tone={tones[review]}>{reviewWords[review]}</Tag>}{' '}
      {reviewedAt && <Time at={reviewedAt} />}
      {reason && <p>{reason}</p>}
    </>
  );
  return (
    <tr>
      <th scope="row" id={named}>
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
      <td className={styles.actions}>
        {!isRemoved && (
          <>
            {join === null ? (
              <Button variant="plain" aria-describedby={named} onClick={onShow}>
                Show
              </Button>
            ) : (
              <Link
                to={`/transcripts/${person}/${join}?document=${id}`}
                className={buttonClass({ variant: 'plain' })}
                aria-describedby={named}
              >
                Show
              </Link>
            )}{' '}
            <Download document={document} describedBy={named} />
          </>
        )}
      </td>
    </tr>
  );
}
