import type { ReactNode } from 'react';
import {
  Form,
  type LoaderFunctionArgs,
  redirect,
  useLoaderData,
  useNavigation,
  useParams,
} from 'react-router';
import type { LoadFailure } from '#client/failures.ts';
import type { Data } from '#contract/schemas.ts';
import { cleanText } from '#core/cleanText.ts';
import { parseMemberNumber, verifyPath } from '#core/memberNumber.ts';
import { Button } from '#ui/Button.tsx';
import { TextField } from '#ui/Field.tsx';
import { PageHeading } from '#ui/PageHeading.tsx';
import { Card } from '../../components/Card.tsx';
import { Crest } from '../../components/Crest.tsx';
import { LoadFailed } from '../../components/LoadFailed.tsx';
import { call, outcomeOf } from '../../lib/api.ts';
import { useSite } from '../../lib/site.ts';
import styles from './styles.module.css';

interface Loaded {
  answer: Data<'verifyNumber'> | null;
  failure: LoadFailure | null;
}

export async function loader({ params: { number } }: LoaderFunctionArgs): Promise<Loaded> {
  if (!number) return { answer: null, failure: null };
  const outcome = await outcomeOf(
    call('verifyNumber', { params: { number }, quiet: true }),
    'We could not look up this number.',
  );
  return 'data' in outcome ? { answer: outcome.data, failure: null } : { answer: null, failure: outcome };
}

/** Redirects to the page that verifies the typed number. */
export async function action({ request }: LoaderFunctionArgs): Promise<Response> {
  const typed = cleanText(String((await request.formData()).get('number') ?? ''));
  const number = parseMemberNumber(typed);
  return redirect(number ? verifyPath(number) : `/verify/${encodeURIComponent(typed)}`);
}

/** The page where anybody with a member number can check whether it is genuine. It needs no session. */
export function Component() {
  const { answer, failure } = useLoaderData() as Loaded;
  const { number = '' } = useParams();
  return (
    <Card>
      <header className={styles.head}>
        <Crest large />
        <PageHeading title="Verify a Membership" />
      </header>
      {failure && <LoadFailed failure={failure} />}
      {answer && <Answer answer={answer} typed={number} />}
      {answer?.standing !== 'valid' && <NumberForm typed={number} />}
    </Card>
  );
}

function Answer({ answer, typed }: { answer: Data<'verifyNumber'>; typed: string }) {
  const { society } = useSite();
  if (answer.standing === 'valid')
    return (
      <Finding title="This membership is genuine">
        <dl className={styles.facts}>
          <div>
            <dt>Valid since</dt>
            <dd>{answer.since}</dd>
          </div>
          <div>
            <dt>Society</dt>
            <dd>{answer.society}</dd>
          </div>
          {answer.programme && (
            <div>
              <dt>Program</dt>
              <dd>{answer.programme}</dd>
            </div>
          )}
          <div>
            <dt>Member number</dt>
            <dd>{answer.number}</dd>
          </div>
        </dl>
      </Finding>
    );
  if (answer.standing === 'ended') return <Finding title="This membership is no longer valid" />;
  return (
    <Finding title="We have no record of such a membership">
      <p>
        {society.name} has no membership to verify under the number{' '}
        <span className={styles.typed}>{typed}</span>. Please compare it with the certificate.
      </p>
    </Finding>
  );
}

function Finding({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <section className={styles.finding} aria-labelledby="finding">
      <h2 id="finding">{title}</h2>
      {children}
    </section>
  );
}

function NumberForm({ typed }: { typed: string }) {
  const { state } = useNavigation();
  return (
    <Form method="post" className={styles.form} noValidate>
      <TextField
        key={typed}
        id="number"
        name="number"
        label="Member number"
        hint="Eight letters and digits, as on the certificate: 7K3M-9QXR"
        defaultValue={typed}
        maxLength={40}
        required
        autoCapitalize="characters"
        autoComplete="off"
        enterKeyHint="search"
      />
      <Button type="submit" busy={state !== 'idle' && 'Looking it up…'}>
        Verify
      </Button>
    </Form>
  );
}
