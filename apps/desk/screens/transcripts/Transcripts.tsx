import { useRef } from 'react';
import { Link, useLoaderData } from 'react-router';
import { PageHeading } from '#ui/PageHeading.tsx';
import { Stack } from '#ui/Text.tsx';
import { DownloadCsv } from '../../components/DownloadCsv.tsx';
import rows from '../../components/Rows.module.css';
import { ShowMore } from '../../components/ShowMore.tsx';
import table from '../../components/Table.module.css';
import { Tag } from '../../components/Tag.tsx';
import { Time } from '../../components/Time.tsx';
import { call, takeFile } from '../../lib/call.ts';
import { useMore } from '../../lib/useMore.ts';
import { counted, verdictTones } from '../../lib/words.ts';
import type { Listed, Tab } from './loadTranscripts.ts';
import { Overdue } from './Overdue.tsx';
import { TranscriptTabs } from './TranscriptTabs.tsx';

const empty: Record<Tab, string> = {
  decide: 'No transcript waits.',
  overdue: 'No proof is overdue.',
  decided: 'No transcript was decided yet.',
};
const sinceWords: Record<Tab, string> = { decide: 'Waits since', overdue: 'Paid', decided: 'Decided' };

/** The page Transcripts: joins whose transcripts wait for a decision, are overdue, or were decided. */
export function Transcripts() {
  const listed = useLoaderData() as Listed;
  return (
    <>
      <PageHeading title="Transcripts" />
      <TranscriptTabs />
      <List key={listed.tab} listed={listed} />
      {listed.rows.length > 0 && (
        <DownloadCsv
          file={`transcripts-${listed.tab}.csv`}
          load={() => takeFile('getTranscriptsFile', { query: { tab: listed.tab } })}
        />
      )}
    </>
  );
}

function List({ listed }: { listed: Listed }) {
  const { tab } = listed;
  const list = useMore(listed, (next) => call('getTranscripts', { query: { tab, next } }));
  const body = useRef<HTMLTableSectionElement>(null);
  const { rows: shown } = list;
  if (shown.length === 0)
    return (
      <Stack>
        <p className={rows.none} role="status">
          {empty[tab]}
        </p>
      </Stack>
    );
  if (tab === 'overdue')
    return (
      <>
        <Overdue rows={shown} of={listed} />
        <ShowMore list={list} onPress={() => void list.showMore()} />
      </>
    );
  // The focus moves to the first new row, because the button may have disappeared.
  const focusFirstNew = () => body.current?.querySelectorAll<HTMLElement>('th a')[shown.length]?.focus();
  return (
    <>
      <table className={`${table.table} ${rows.rows}`}>
        <caption className="sr">Transcripts</caption>
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col" className={`${rows.wide} ${rows.whole}`}>
              {sinceWords[tab]}
            </th>
            <th scope="col" className={rows.wide}>
              Programme
            </th>
            <th scope="col" className={rows.wide}>
              {tab === 'decided' ? 'Decision' : 'Files'}
            </th>
          </tr>
        </thead>
        <tbody ref={body}>
          {shown.map((row) => (
            <Row key={`${row.id}/${row.join}`} tab={tab} row={row} />
          ))}
        </tbody>
      </table>
      <ShowMore list={list} onPress={() => void list.showMore(focusFirstNew)} />
    </>
  );
}

function Row({
  tab,
  row: { id, join, name, since, programme, files, verdict, by },
}: {
  tab: Tab;
  row: Listed['rows'][number];
}) {
  const what =
    tab === 'decided' && verdict ? (
      <>
        <Tag tone={verdictTones[verdict]}>{verdict}</Tag> {by && `by ${by}`}
      </>
    ) : (
      counted(files, 'file')
    );
  return (
    <tr>
      <th scope="row">
        <Link to={`/transcripts/${id}/${join}`} className={rows.link}>
          {name ?? `Person ${id}`}
        </Link>
        <span className={rows.narrow}>
          <span>{programme}</span>
          <span>
            {sinceWords[tab].toLowerCase()} <Time at={since} day />
          </span>
          <span>{what}</span>
        </span>
      </th>
      <td className={`${rows.wide} ${rows.whole}`}>
        <Time at={since} day />
      </td>
      <td className={rows.wide}>{programme}</td>
      <td className={rows.wide}>{what}</td>
    </tr>
  );
}
