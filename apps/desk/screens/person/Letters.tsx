import { useCallback, useState } from 'react';
import { ApiError } from '#client/failures.ts';
import { Alert, Note } from '#ui/Alert.tsx';
import { Button } from '#ui/Button.tsx';
import { Bones } from '#ui/Skeleton.tsx';
import { Stack } from '#ui/Text.tsx';
import { Dialog, DialogButtons } from '../../components/Dialog.tsx';
import { PartFailed } from '../../components/Failed.tsx';
import table from '../../components/Table.module.css';
import { Tag } from '../../components/Tag.tsx';
import { Time } from '../../components/Time.tsx';
import { call } from '../../lib/call.ts';
import { useDoing } from '../../lib/useDoing.ts';
import { useLoaded } from '../../lib/useLoaded.ts';
import { type PersonData, usePerson } from './loadPerson.ts';
import styles from './Person.module.css';

type Letter = PersonData['letters'][number];

/** The letters of a person. Each can be read as it would be sent now. */
export function Letters() {
  const { letters } = usePerson();
  const { start } = useDoing();
  const [shown, setShown] = useState<Letter | null>(null);
  if (letters.length === 0) return <p className={styles.tab}>No letter was written.</p>;
  return (
    <div className={styles.tab}>
      <table className={table.table}>
        <caption className="sr">Letters</caption>
        <thead>
          <tr>
            <th scope="col">Letter</th>
            <th scope="col" className={styles.wide}>
              To
            </th>
            <th scope="col" className={styles.wide}>
              State
            </th>
            <th scope="col" className={styles.wide}>
              When
            </th>
            <td className={styles.actions} />
          </tr>
        </thead>
        <tbody>
          {letters.map((letter) => (
            <Row
              key={letter.id}
              letter={letter}
              onShow={() => setShown(letter)}
              onSend={() => start('send-letter', { letter: letter.id })}
            />
          ))}
        </tbody>
      </table>
      {shown && <LetterDialog letter={shown} onClose={() => setShown(null)} />}
    </div>
  );
}

const tones: Partial<Record<Letter['state'], 'good' | 'bad'>> = { sent: 'good', refused: 'bad' };

function Row({
  letter: { id, kind, to, state, at, refusal },
  onShow,
  onSend,
}: {
  letter: Letter;
  onShow: () => void;
  onSend: () => void;
}) {
  const stateOf = (
    <>
      <Tag tone={tones[state] ?? 'plain'}>{state}</Tag>
      {refusal && <p>{refusal}</p>}
    </>
  );
  return (
    <tr>
      <th scope="row" id={`letter-${id}`}>
        {kind}
        <div className={`${styles.narrow} ${styles.small}`}>
          <span>{to}</span>
          <Time at={at} />
          {stateOf}
        </div>
      </th>
      <td className={styles.wide}>{to}</td>
      <td className={styles.wide}>{stateOf}</td>
      <td className={styles.wide}>
        <Time at={at} />
      </td>
      <td className={styles.actions}>
        <Button variant="plain" aria-describedby={`letter-${id}`} onClick={onShow}>
          Show
        </Button>
        {(state === 'sent' || state === 'refused') && (
          <Button
            variant="plain"
            className={styles.beside}
            aria-describedby={`letter-${id}`}
            onClick={onSend}
          >
            Send again
          </Button>
        )}
      </td>
    </tr>
  );
}

function LetterDialog({ letter: { id, kind }, onClose }: { letter: Letter; onClose: () => void }) {
  const { data, error, tryAgain } = useLoaded(
    useCallback((signal) => call('getLetter', { params: { id }, signal }), [id]),
  );
  return (
    <Dialog wide title={data?.subject ?? kind} onClose={onClose}>
      {data ? (
        <>
          <p className={styles.small}>To {data.to}</p>
          {!data.isHeld && (
            <Stack>
              <Note>What this letter says does not hold any more.</Note>
            </Stack>
          )}
          <div className={styles.letter}>{data.text}</div>
        </>
      ) : error instanceof ApiError && error.status === 409 ? (
        <Stack>
          <Alert>{error.message}</Alert>
        </Stack>
      ) : error ? (
        <PartFailed error={error} isTrying={false} onTry={tryAgain} />
      ) : (
        <div className={styles.letter}>
          <span className="sr" role="status">
            Loading
          </span>
          <Bones count={12} />
        </div>
      )}
      <DialogButtons>
        <Button variant="second" slim onClick={onClose}>
          Close
        </Button>
      </DialogButtons>
    </Dialog>
  );
}
