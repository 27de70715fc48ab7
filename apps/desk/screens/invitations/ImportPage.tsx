import { useState } from 'react';
import { Link, useLoaderData, useRevalidator } from 'react-router';
import { addressOf } from '#client/deskClient.ts';
import { Alert, Note } from '#ui/Alert.tsx';
import { Button, buttonClass } from '#ui/Button.tsx';
import { PageHeading } from '#ui/PageHeading.tsx';
import { usePoll } from '#ui/usePoll.ts';
import { ActionDialog } from '../../components/ActionDialog.tsx';
import { Section } from '../../components/Section.tsx';
import { Time } from '../../components/Time.tsx';
import { call } from '../../lib/call.ts';
import { counted } from '../../lib/words.ts';
import styles from './Invitations.module.css';
import { type ImportFile, isUnderWay, stateOf } from './loadImport.ts';

const POLL_MS = 1_000;

/**
 * One file of invitations: the result of checking it, and the progress of its import. The server continues even if the page is
 * closed.
 */
export function ImportPage() {
  const loaded = useLoaderData() as ImportFile;
  const [polled, setPolled] = useState(loaded);
  // When the loader has loaded the file again, the last poll's answer may be older, so it is dropped.
  const [base, setBase] = useState(loaded);
  if (base !== loaded) {
    setBase(loaded);
    setPolled(loaded);
  }
  const file = polled;
  usePoll(isUnderWay(file), POLL_MS, async (signal) => {
    const now = await call('getImport', { params: { id: String(file.id) }, signal }).catch(() => null);
    if (now) setPolled(now);
    return now !== null && !isUnderWay(now);
  });
  return (
    <>
      <PageHeading title={file.fileName} />
      <p>
        Uploaded by {file.staff}, <Time at={file.at} />
        {file.campaign !== null && `, campaign ${file.campaign}`}
      </p>
      <Standing file={file} />
      <Counts file={file} />
      <Next file={file} />
      {file.doubts.length > 0 && (file.state === 'checked' || file.kind === 'mint') && (
        <Section title="Please look at this">
          <ul className={styles.lines}>
            {file.doubts.map((doubt) => (
              <li key={doubt}>{doubt.charAt(0).toUpperCase() + doubt.slice(1)}</li>
            ))}
          </ul>
        </Section>
      )}
      {file.refusals.length > 0 && <Refusals file={file} />}
    </>
  );
}

function Standing({ file }: { file: ImportFile }) {
  if (file.failure !== null)
    return (
      <div className={styles.standing}>
        <Alert>{file.failure}</Alert>
      </div>
    );
  if (!isUnderWay(file))
    return (
      <div className={styles.standing}>
        <Note>
          {stateOf(file)}.{file.isEmptied && ' What was kept of it is deleted.'}
        </Note>
      </div>
    );
  const words = { making: 'Making the codes', checking: 'Checking the file', importing: 'Importing' };
  const what = words[file.state as keyof typeof words];
  return (
    <>
      <p className={styles.standing}>
        <label htmlFor="progress">
          {what}: {Math.floor(file.share * 100)}%
        </label>
      </p>
      <progress id="progress" className={styles.progress} max={1} value={file.share} />
      <p>You may close this page: it goes on.</p>
    </>
  );
}

const countWords = [
  ['made', 'made'],
  ['added', 'new'],
  ['changed', 'changed'],
  ['unchanged', 'unchanged'],
  ['refused', 'refused'],
] as const;

function Counts({ file }: { file: ImportFile }) {
  const known = countWords.flatMap(([name, word]) =>
    file[name] === null ? [] : [{ word, count: file[name] }],
  );
  if (known.length === 0) return null;
  return (
    <dl className={styles.counts}>
      {known.map(({ word, count }) => (
        <div key={word}>
          <dt>{word}</dt>
          <dd>{count.toLocaleString('en-US')}</dd>
        </div>
      ))}
    </dl>
  );
}

/** What staff can do with the file now. */
function Next({ file }: { file: ImportFile }) {
  const { revalidate } = useRevalidator();
  const [isOpen, setOpen] = useState(false);
  const params = { id: String(file.id) };
  const count = (file.added ?? 0) + (file.changed ?? 0);
  return (
    <p className={styles.files}>
      {file.state === 'checked' && !file.isEmptied && count > 0 && (
        <Button slim onClick={() => setOpen(true)}>
          Import {counted(count, 'invitation')}
        </Button>
      )}
      {file.state === 'checked' && count === 0 && <span>Nothing of this file is new or changed.</span>}
      {(file.state === 'made' || (file.kind === 'mint' && file.state === 'done')) && !file.isEmptied && (
        <a className={buttonClass({ slim: true })} href={addressOf('getMadeCodes', params)} download>
          Download codes
        </a>
      )}
      <Link to="/invitations">Back to Invitations</Link>
      {isOpen && (
        <ActionDialog
          asked={{ name: 'importInvitations', params, body: {} }}
          title={`Import ${file.fileName}?`}
          done="The import has begun."
          onDone={() => void revalidate()}
          onClose={() => setOpen(false)}
        />
      )}
    </p>
  );
}

function Refusals({ file }: { file: ImportFile }) {
  const { refusals, isEmptied } = file;
  const left = (file.refused ?? 0) - refusals.length;
  return (
    <Section title="Refused lines">
      <ul className={styles.lines}>
        {refusals.map(({ line, text }) => (
          <li key={line}>
            <strong>Line {line.toLocaleString('en-US')}:</strong> {text}
          </li>
        ))}
        {left > 0 && <li>and {counted(left, 'more line')}</li>}
      </ul>
      {!isEmptied && (
        <p className={styles.files}>
          <a
            className={buttonClass({ variant: 'second', slim: true })}
            href={addressOf('getRefusedLines', { id: String(file.id) })}
            download
          >
            Download refused lines
          </a>
        </p>
      )}
    </Section>
  );
}
