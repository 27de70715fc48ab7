import { Link, useLoaderData, useSearchParams } from 'react-router';
import { PageHeading } from '#ui/PageHeading.tsx';
import { Section } from '../../components/Section.tsx';
import { Tag } from '../../components/Tag.tsx';
import { Time } from '../../components/Time.tsx';
import { Viewer } from '../../components/Viewer.tsx';
import { sizeWords, verdictTones } from '../../lib/words.ts';
import { Decide } from './Decide.tsx';
import { addressOf, type TranscriptData } from './loadTranscript.ts';
import styles from './Transcript.module.css';

const standingWords: Record<TranscriptData['standing'], string> = {
  open: 'to decide',
  accepted: 'accepted',
  rejected: 'rejected',
  'rejected finally': 'rejected finally',
  none: 'no transcript to decide on',
  over: 'the membership has ended',
};

/** The page that shows the documents of a join next to the details that its joiner entered, for a decision on them. */
export function Transcript() {
  const transcript = useLoaderData() as TranscriptData;
  const { id, join, name, email, standing } = transcript;
  const title = name ?? email ?? `Person ${id}`;
  const tone = standing in verdictTones ? verdictTones[standing as keyof typeof verdictTones] : 'plain';
  return (
    <>
      <PageHeading key={addressOf(transcript)} title={title} />
      <p className={styles.standing}>
        <Tag tone={tone}>{standingWords[standing]}</Tag>
        <Link to={`/people/${id}`}>Open person</Link>
      </p>
      <Decide key={`${id}/${join} ${standing}`} transcript={transcript} title={title} />
      <div className={styles.columns}>
        <Documents key={`${id}/${join}`} transcript={transcript} />
        <div>
          <Claimed transcript={transcript} />
        </div>
      </div>
    </>
  );
}

/** Shows one of the documents: the one in the URL, otherwise the newest. */
function Documents({ transcript: { documents } }: { transcript: TranscriptData }) {
  const [query] = useSearchParams();
  const newest = documents.findLast(({ isRemoved }) => !isRemoved) ?? documents.at(-1);
  const shown = documents.find(({ id }) => id === query.get('document')) ?? newest;
  if (!shown) return <p>No document was uploaded.</p>;
  return (
    <div>
      {documents.length > 1 && (
        <nav className={styles.documents} aria-label="Documents">
          {documents.map(({ id, name, sizeBytes }) => (
            <Link
              key={id}
              to={`?document=${id}`}
              replace
              preventScrollReset
              aria-current={id === shown.id || undefined}
            >
              {name} ({sizeWords(sizeBytes)})
            </Link>
          ))}
        </nav>
      )}
      <Viewer key={shown.id} document={shown} />
    </div>
  );
}

function Claimed({ transcript }: { transcript: TranscriptData }) {
  const { claimed, programme, eligibility, decisions, story } = transcript;
  const facts = [
    ['Name', claimed.name],
    ['School', claimed.school],
    ['Graduation year', claimed.graduationYear],
    ['GPA', claimed.gpa],
  ] as const;
  return (
    <>
      <Section title="Claimed">
        <dl className={styles.claimed}>
          {facts.map(([label, value]) => (
            <div key={label}>
              <dt>{label}</dt>
              <dd>{value ?? 'not given'}</dd>
            </div>
          ))}
        </dl>
      </Section>
      <Section title={programme}>
        <p className={styles.small}>{eligibility.intro}</p>
        <ul className={styles.rules}>
          {eligibility.rules.map((rule) => (
            <li key={rule}>{rule}</li>
          ))}
        </ul>
      </Section>
      {decisions.length > 0 && (
        <Section title="Earlier decisions">
          <ul className={styles.lines}>
            {decisions.map(({ at, by, verdict, reason }) => (
              <li key={at}>
                <Tag tone={verdictTones[verdict]}>{verdict}</Tag> {reason}
                <small>
                  {by && `${by}, `}
                  <Time at={at} />
                </small>
              </li>
            ))}
          </ul>
        </Section>
      )}
      <Section title="Story">
        <details className={styles.story}>
          <summary>Steps of this join</summary>
          <ol className={styles.lines}>
            {story.map(({ at, text, by }, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: steps have no names of their own, and do not move
              <li key={index}>
                {text}
                <small>
                  {by}, <Time at={at} />
                </small>
              </li>
            ))}
          </ol>
        </details>
      </Section>
    </>
  );
}
