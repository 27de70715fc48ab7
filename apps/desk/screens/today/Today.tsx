import { type ReactNode, useCallback, useState } from 'react';
import { Link, useLoaderData } from 'react-router';
import type { DeskData } from '#contract/deskSchemas.ts';
import { hasRightsOf } from '#core/staff.ts';
import { Button } from '#ui/Button.tsx';
import { PageHeading } from '#ui/PageHeading.tsx';
import { Bones } from '#ui/Skeleton.tsx';
import { ActionDialog } from '../../components/ActionDialog.tsx';
import { AssignRefund } from '../../components/AssignRefund.tsx';
import { PartFailed } from '../../components/Failed.tsx';
import { Offers } from '../../components/Offers.tsx';
import { RefundPayment } from '../../components/RefundPayment.tsx';
import { Section } from '../../components/Section.tsx';
import { Tag } from '../../components/Tag.tsx';
import { Time } from '../../components/Time.tsx';
import { call } from '../../lib/call.ts';
import { useMe } from '../../lib/me.ts';
import { useDoing } from '../../lib/useDoing.ts';
import { useLoaded } from '../../lib/useLoaded.ts';
import { counted, providerWords, queueAddresses, queueWords } from '../../lib/words.ts';
import styles from './Today.module.css';

type Data = DeskData<'getToday'>;

/** The server does not count further than this. */
const MOST_COUNTED = 1_000;

/** The page Today: what has to be done, and whether all services work. */
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
                {queueAddresses[name] ? (
                  <Link to={queueAddresses[name]}>{queueWords[name]}</Link>
                ) : (
                  <span>{queueWords[name]}</span>
                )}
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
      <Notices notices={notices} />
      <Doing />
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

/** The dialogs of actions that are not about a person, opened by the URL. */
function Doing() {
  const { doing, about, stop } = useDoing();
  const isFinance = hasRightsOf(useMe().role, 'finance');
  if (doing === 'refund-payment' && isFinance)
    return <RefundPayment payment={about.get('payment') ?? ''} onClose={stop} />;
  if (doing === 'assign' && isFinance)
    return <AssignRefund refund={about.get('refund') ?? ''} onClose={stop} />;
  if (doing !== 'retry-hubspot') return null;
  return (
    <ActionDialog
      asked={{ name: 'retryAtHubspot', body: { person: null } }}
      title="Send to HubSpot again?"
      done="It is sent again."
      onClose={stop}
    />
  );
}

type Shown = Data['notices'][number];

/** The open notices and, on request, those that staff have ended. */
function Notices({ notices }: Pick<Data, 'notices'>) {
  const [ended, setEnded] = useState<{ id: number; undo: boolean } | null>(null);
  const [showsDone, setShowsDone] = useState(false);
  return (
    <Section title="Notices">
      {notices.length === 0 ? (
        <p>No notice is open.</p>
      ) : (
        <ul className={styles.notices}>
          {notices.map((notice) => (
            <Notice key={notice.id} notice={notice}>
              <Button variant="second" slim onClick={() => setEnded({ id: notice.id, undo: false })}>
                Done
              </Button>
            </Notice>
          ))}
        </ul>
      )}
      <p className={styles.more}>
        <Button variant="plain" aria-expanded={showsDone} onClick={() => setShowsDone(!showsDone)}>
          Show done
        </Button>
      </p>
      {showsDone && <DoneNotices open={notices} onUndo={(id) => setEnded({ id, undo: true })} />}
      {ended && (
        <ActionDialog
          asked={{ name: 'markNoticeDone', params: { id: String(ended.id) }, body: { undo: ended.undo } }}
          title={ended.undo ? 'Open this notice again?' : 'Is this done?'}
          done={ended.undo ? 'The notice is open again.' : 'The notice is done.'}
          onClose={() => setEnded(null)}
        />
      )}
    </Section>
  );
}

/** The notices that staff have ended in the last 90 days. They are loaded again when the open notices change. */
function DoneNotices({ open, onUndo }: { open: Data['notices']; onUndo: (id: number) => void }) {
  const { data, error, tryAgain } = useLoaded(
    // biome-ignore lint/correctness/useExhaustiveDependencies: what is done follows from what is open
    useCallback((signal) => call('getDoneNotices', { signal }), [open]),
  );
  if (error) return <PartFailed error={error} isTrying={false} onTry={tryAgain} />;
  if (!data) return <Bones count={3} />;
  if (data.notices.length === 0) return <p>None was done in 90 days.</p>;
  return (
    <ul className={styles.notices} aria-label="Done">
      {data.notices.map(({ doneAt, doneBy, isOpenAgain, ...notice }) => (
        <Notice
          key={notice.id}
          notice={notice}
          more={
            <span>
              done by {doneBy}, <Time at={doneAt} />
            </span>
          }
        >
          {!isOpenAgain && (
            <Button variant="second" slim onClick={() => onUndo(notice.id)}>
              Undo
            </Button>
          )}
        </Notice>
      ))}
    </ul>
  );
}

function Notice({
  notice: { id, text, person, count, since, last, offers, advice },
  more,
  children,
}: {
  notice: Shown;
  more?: ReactNode;
  children: ReactNode;
}) {
  return (
    <li>
      <div>
        <p id={`notice-${id}`}>{text}</p>
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
          {more}
        </p>
        {!more && <Offers offers={offers} advice={advice} of={`notice-${id}`} />}
      </div>
      {children}
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
