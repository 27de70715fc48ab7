import { type ComponentType, Fragment, useEffect, useRef, useState } from 'react';
import { type ActionFunctionArgs, Link, useFetcher, useLocation } from 'react-router';
import type { Site } from '#contract/schemas.ts';
import { INVITE_CODE_MAX_LENGTH, inviteCodeError } from '#core/inviteCode.ts';
import { linkQuery } from '#core/linkQuery.ts';
import { CHECK_PATH, screens } from '#core/navigation.ts';
import { Alert, Note } from '#ui/Alert.tsx';
import { Button } from '#ui/Button.tsx';
import { Checkbox, TextField } from '#ui/Field.tsx';
import { Form } from '#ui/Form.tsx';
import { PageHeading } from '#ui/PageHeading.tsx';
import { Sentence } from '#ui/Sentence.tsx';
import { Hint, Lead, Stack, Ticks } from '#ui/Text.tsx';
import { ButtonLink } from '../../components/ButtonLink.tsx';
import { Card } from '../../components/Card.tsx';
import { SupportEmail, SupportPhone } from '../../components/Support.tsx';
import { prefetch } from '../../lib/prefetch.ts';
import { hasLostReturn, storedSession, typedCode, undoMs } from '../../lib/session.ts';
import { useSite } from '../../lib/site.ts';
import { lazyScreens } from '../lazyScreens.tsx';
import type { NotStarted, Submission } from './startJoin.ts';
import styles from './styles.module.css';

const importStart = () => import(/* webpackChunkName: "start" */ './startJoin.ts');

const prefetchNext = () => prefetch(importStart, lazyScreens.studentDetails.load);

export async function action({ request }: ActionFunctionArgs): Promise<Response | NotStarted> {
  const { startJoin } = await importStart();
  return startJoin((await request.json()) as Submission);
}

export function Component() {
  const { getStarted, sendsLetters } = useSite();
  const { programme, unknown } = useProgramme();
  const [mode, setMode] = useState<Submission['mode']>('invite');
  const [inviteCode, setInviteCode] = useState('');
  const [touched, setTouched] = useState(false);
  const codeField = useRef<HTMLInputElement>(null);
  // A code that was typed before hydration is in the field but not yet in React's state. A code that was typed before a reload is in
  // the tab's storage.
  useEffect(() => {
    const typed = codeField.current?.value || (typedCode.recall() ?? '');
    setInviteCode(typed);
    setTouched(typed !== '');
  }, []);
  useEffect(() => {
    if (touched) typedCode.keep(inviteCode);
  }, [touched, inviteCode]);
  const [confirmed, setConfirmed] = useState(false);
  const [erredMode, setErredMode] = useState<Submission['mode'] | null>(null);
  const fetcher = useFetcher<typeof action>();
  const busy = fetcher.state !== 'idle';
  const codeError = inviteCodeError(inviteCode);
  const ready = mode === 'invite' ? codeError === null : confirmed;
  const refusal =
    !busy && erredMode === mode && fetcher.data && 'error' in fetcher.data ? fetcher.data : null;

  function submit() {
    if (!ready || busy) return;
    setErredMode(mode);
    const asked = { programme: programme.key, isTOLA: programme.isTOLA };
    const submission: Submission =
      mode === 'invite'
        ? { mode, inviteCode, ...asked }
        : { mode, hasConfirmedEligibility: confirmed, ...asked };
    void fetcher.submit(submission, {
      method: 'post',
      action: screens.getStarted,
      encType: 'application/json',
    });
  }

  const Returning = useReturning();

  return (
    <Card>
      {Returning && <Returning />}
      <PageHeading title="Get Started" />
      {unknown && (
        <Stack>
          <OtherProgrammes unknown={unknown} shown={programme} />
        </Stack>
      )}
      <Lead>{getStarted.lead}</Lead>
      <fieldset className={styles.toggle} aria-label="How do you join?">
        <button type="button" aria-pressed={mode === 'invite'} onClick={() => setMode('invite')}>
          I have an Invite Code
        </button>
        <button type="button" aria-pressed={mode === 'self'} onClick={() => setMode('self')}>
          I am Self-Nominating
        </button>
      </fieldset>
      <Form onFocus={prefetchNext} onPointerDown={prefetchNext} onSubmit={submit}>
        {mode === 'invite' ? (
          <TextField
            ref={codeField}
            id="inviteCode"
            name="inviteCode"
            label="Invite code"
            hint="Letters and numbers, printed at the top of your invitation."
            value={inviteCode}
            onChange={(event) => {
              setInviteCode(event.target.value);
              setTouched(true);
              setErredMode(null);
            }}
            error={(touched && codeError) || undefined}
            required
            maxLength={INVITE_CODE_MAX_LENGTH + 20}
            autoComplete="off"
            autoCapitalize="characters"
            enterKeyHint="go"
          />
        ) : (
          <Eligibility programme={programme}>
            <Checkbox
              id="hasConfirmedEligibility"
              name="hasConfirmedEligibility"
              label="Yes, I confirm I meet the eligibility requirements"
              checked={confirmed}
              onChange={(event) => setConfirmed(event.target.checked)}
              required
            />
          </Eligibility>
        )}
        <div className={styles.submit}>
          <Button type="submit" full disabled={!ready} busy={busy && 'Submitting...'}>
            Submit
          </Button>
          {refusal && <Alert isAnswer>{refusal.error}</Alert>}
          {refusal && mode === 'invite' && (
            <OtherWays onSelfNominate={refusal.isMember ? null : () => setMode('self')} />
          )}
        </div>
      </Form>
      <p className={styles.otherWays}>
        Is your invitation real?{' '}
        <ButtonLink variant="plain" to={CHECK_PATH}>
          Check it
        </ButtonLink>
      </p>
      {sendsLetters && (
        <p className={styles.otherWays}>
          Started or joined on another device?{' '}
          <ButtonLink variant="plain" to={screens.pass}>
            Send me my link
          </ButtonLink>
        </p>
      )}
      <ul className={styles.facts}>
        {getStarted.facts.map(({ title, text }) => (
          <li key={title}>
            <h2>{title}</h2>
            <p>
              {text.replaceAll('{price}', programme.membershipFrom).replaceAll('{refund}', programme.refund)}
            </p>
          </li>
        ))}
      </ul>
    </Card>
  );
}

/**
 * Loads the component that offers to continue a join or to undo Start Over. If a payment return found no join, loads the
 * component that says what to do instead. Returns null until the component is loaded, and if there is nothing to show, as on a
 * first visit.
 */
function useReturning(): ComponentType | null {
  const [Returning, setReturning] = useState<ComponentType | null>(null);
  useEffect(() => {
    if (storedSession() === null && undoMs() === 0 && !hasLostReturn()) return;
    import(/* webpackChunkName: "returning" */ './Returning.tsx').then(
      ({ AfterPayment, Returning }) => setReturning(() => (hasLostReturn() ? AfterPayment : Returning)),
      () => {},
    );
  }, []);
  return Returning;
}

/**
 * What the joiner can do after an invite code was refused. `onSelfNominate` is null for a member, who need not join and so is not
 * told to nominate themselves.
 */
function OtherWays({ onSelfNominate }: { onSelfNominate: (() => void) | null }) {
  const values = {
    nominate: onSelfNominate && (
      <Button variant="plain" onClick={onSelfNominate}>
        nominate yourself
      </Button>
    ),
    phone: <SupportPhone />,
    email: <SupportEmail />,
  };
  const text = onSelfNominate
    ? 'You do not need a code: {nominate}, call {phone}, or write to {email}.'
    : 'Call {phone}, or write to {email}.';
  return (
    <p className={styles.otherWays}>
      <Sentence text={text} values={values} />
    </p>
  );
}

/** Says that a link names a programme that is not open, which programme the page shows instead, and which others there are. */
function OtherProgrammes({ unknown, shown }: { unknown: string; shown: Programme }) {
  const others = Object.entries(useSite().programmes).filter(([key]) => key !== shown.key);
  return (
    <Note>
      This link names a program that is not open: “{unknown.slice(0, 40)}”. This page is about {shown.name}.
      {others.map(([key, { name }]) => (
        <Fragment key={key}>
          {' '}
          <Link to={`${screens.getStarted}?${new URLSearchParams({ programme: key })}`}>Go to {name}</Link>
        </Fragment>
      ))}
    </Note>
  );
}

type Programme = Site['programmes'][string] & { key: string };

/**
 * Returns the programme in the query (`?programme=undergraduate`), otherwise the society's default. `unknown` is the text in the
 * query if there is no such programme.
 */
function useProgramme(): { programme: Programme; unknown: string | null } {
  const { programmes, defaultProgramme } = useSite();
  const asked = linkQuery(useLocation().search).get('programme');
  const isKnown = asked !== null && Object.keys(programmes).includes(asked);
  const key = isKnown ? asked : defaultProgramme;
  return { programme: { key, ...programmes[key]! }, unknown: isKnown ? null : asked || null };
}

function Eligibility({ programme, children }: { programme: Programme; children: React.ReactNode }) {
  const { intro, rules, note } = programme.eligibility;
  return (
    <section className={styles.eligibility} aria-labelledby="eligibility">
      <h2 id="eligibility">Eligibility for {programme.name}</h2>
      <p>{intro}</p>
      <Ticks>
        {rules.map((rule) => (
          <li key={rule}>{rule}</li>
        ))}
      </Ticks>
      <Hint>{note}</Hint>
      <Hint>{programme.refund}</Hint>
      {children}
    </section>
  );
}
