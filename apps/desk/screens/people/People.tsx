import { type KeyboardEvent, useCallback, useRef } from 'react';
import { Link, useLoaderData } from 'react-router';
import { PageHeading } from '#ui/PageHeading.tsx';
import { Hint, Stack } from '#ui/Text.tsx';
import { DownloadCsv } from '../../components/DownloadCsv.tsx';
import { PartFailed } from '../../components/Failed.tsx';
import styles from '../../components/Rows.module.css';
import { ShowMore } from '../../components/ShowMore.tsx';
import table from '../../components/Table.module.css';
import { Time } from '../../components/Time.tsx';
import { takeFile } from '../../lib/call.ts';
import { useLoaded } from '../../lib/useLoaded.ts';
import { useMore } from '../../lib/useMore.ts';
import { queueWords, stateWords } from '../../lib/words.ts';
import { type Found, findAtHubspot, findPeople } from './searchPeople.ts';

const HOW =
  'Search by a name, email, invite code, member number, payment, card with amount, or HubSpot contact.';
const SILENT =
  'HubSpot did not answer, so somebody who has not begun to join may be missing. Try again in a minute.';
const ASKING = 'Not found here. HubSpot is asked, too …';
const ASKED = 'HubSpot was asked as well and knows nobody by this name, email, or number.';
const NO_CONTACTS =
  'HubSpot’s contacts have not been read yet. Somebody who has not begun to join may be missing: search by their email.';

/** The persons found for the text in the header's search field, or the persons in a queue. */
export function People() {
  const found = useLoaderData() as Found | null;
  return (
    <>
      <PageHeading title="People" />
      {found ? (
        <Results key={found.asked.text ?? found.asked.queue} found={found} />
      ) : (
        <Stack>
          <p>{HOW}</p>
        </Stack>
      )}
    </>
  );
}

function Results({ found }: { found: Found }) {
  const list = useMore(found, (next) => findPeople(found.asked, { next }));
  const body = useRef<HTMLTableSectionElement>(null);
  const { rows } = list;
  const { text, queue } = found.asked;
  if (rows.length === 0) return text === null ? <Nobody /> : <AtHubspot text={text} />;

  // The focus moves to the first new row, because the button may have disappeared.
  const focusFirstNew = () => linksIn(body.current)[rows.length]?.focus();
  return (
    <>
      <table className={`${table.table} ${styles.rows}`}>
        <caption className={queue === null ? 'sr' : undefined}>
          {queue === null ? `People found for ${text}` : queueWords[queue]}
        </caption>
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col" className={styles.wide}>
              Email
            </th>
            <th scope="col" className={styles.wide}>
              Programme
            </th>
            <th scope="col" className={`${styles.wide} ${styles.whole}`}>
              State
            </th>
            <th scope="col" className={`${styles.wide} ${styles.whole}`}>
              Paid
            </th>
            <th scope="col" className={`${styles.wide} ${styles.whole}`}>
              Member number
            </th>
          </tr>
        </thead>
        <tbody ref={body} onKeyDown={moveByArrows}>
          {rows.map((row) => (
            <Row key={row.id} row={row} />
          ))}
        </tbody>
      </table>
      <ShowMore list={list} onPress={() => void list.showMore(focusFirstNew)} />
      {text !== null && !found.knowsContacts && <Hint>{NO_CONTACTS}</Hint>}
      <DownloadCsv
        file="people.csv"
        load={() => takeFile('getPeopleFile', { body: queue === null ? { text } : { queue } })}
      />
    </>
  );
}

/** Asks HubSpot for a person who is not known here. HubSpot may have a contact that has no join yet and has not been read. */
function AtHubspot({ text }: { text: string }) {
  const { data, error, tryAgain } = useLoaded(
    useCallback((signal: AbortSignal) => findAtHubspot(text, signal), [text]),
  );
  if (error) return <PartFailed error={error} isTrying={false} onTry={tryAgain} />;
  if (data && data.rows.length > 0) return <Results found={{ ...data, asked: { text, queue: null } }} />;
  return (
    <Stack>
      <Nobody words={data ? undefined : ASKING} />
      {data && (
        <>
          <Hint>{HOW}</Hint>
          <Link to={`/invitations?${new URLSearchParams({ code: text })}`}>Explain this code</Link>
          {data.atHubspot && <Hint>{data.atHubspot === 'unknown' ? ASKED : SILENT}</Hint>}
        </>
      )}
    </Stack>
  );
}

function Nobody({ words = 'Nobody found.' }: { words?: string | undefined }) {
  return (
    <p className={styles.none} role="status">
      {words}
    </p>
  );
}

function Row({
  row: { id, name, email, programme, state, paidAt, memberNumber },
}: {
  row: Found['rows'][number];
}) {
  const paid = paidAt && <Time at={paidAt} day />;
  return (
    <tr>
      <th scope="row">
        <Link to={`/people/${id}`} className={styles.link}>
          {name ?? email ?? `Person ${id}`}
        </Link>
        <span className={styles.narrow}>
          <span>{email}</span>
          <span>{[programme, state && stateWords[state]].filter(Boolean).join(', ')}</span>
          <span>
            {paid && <>paid {paid}</>} {memberNumber}
          </span>
        </span>
      </th>
      <td className={styles.wide}>{email}</td>
      <td className={styles.wide}>{programme}</td>
      <td className={`${styles.wide} ${styles.whole}`}>{state && stateWords[state]}</td>
      <td className={`${styles.wide} ${styles.whole}`}>{paid}</td>
      <td className={`${styles.wide} ${styles.whole} ${styles.number}`}>{memberNumber}</td>
    </tr>
  );
}

const linksIn = (body: Element | null): HTMLElement[] => [
  ...(body?.querySelectorAll<HTMLElement>('th a') ?? []),
];

/** The arrow keys move the focus between the rows. Enter opens a row, since its name is a link. */
function moveByArrows(event: KeyboardEvent<HTMLElement>): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step === undefined) return;
  const links = linksIn(event.currentTarget);
  const target = links[links.indexOf(document.activeElement as HTMLElement) + step];
  if (!target) return;
  event.preventDefault();
  target.focus();
}
