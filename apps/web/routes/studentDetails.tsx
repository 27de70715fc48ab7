import { type ReactNode, Suspense, use, useEffect, useState } from 'react';
import { useForm } from 'react-hook-form';
import {
  type ActionFunctionArgs,
  redirect,
  type ShouldRevalidateFunctionArgs,
  useFetcher,
  useLoaderData,
} from 'react-router';
import type { Data } from '#contract/schemas.ts';
import { screens } from '#core/navigation.ts';
import {
  DETAILS_NOT_ACCEPTED,
  DETAILS_SUBMITTED,
  fallback,
  NO_SESSION_FOR_MEMBERSHIP,
} from '#core/sentences.ts';
import {
  gpaValues,
  graduationYears,
  type StudentDetails,
  type StudentDetailsField,
  studentDetailsErrors,
  studentDetailsFields,
  trimDetails,
} from '#core/studentDetails.ts';
import { countries, findCountry } from '#reference/countries.ts';
import { ApiError, call, messageOf, type Outcome, outcomeOf, requireSession } from '../api.ts';
import { Alert } from '../components/Alert.tsx';
import { Button } from '../components/Button.tsx';
import { Card } from '../components/Card.tsx';
import { EmailSuggestion } from '../components/EmailSuggestion.tsx';
import { ErrorSummary } from '../components/ErrorSummary.tsx';
import { Checkbox, SelectField, TextField } from '../components/Field.tsx';
import { GoOn } from '../components/GoOn.tsx';
import { PageHeading } from '../components/PageHeading.tsx';
import { ProgressBar } from '../components/ProgressBar.tsx';
import { Bone } from '../components/Skeleton.tsx';
import { StartOver } from '../components/StartOver.tsx';
import ui from '../components/ui.module.css';
import { keep, recall, storedSession } from '../session.ts';
import { useSite } from '../site.ts';
import { raiseToast } from '../toasts.ts';
import { countryRule, emptyDetails, prefill } from './prefill.ts';
import styles from './studentDetails.module.css';

export function loader() {
  const uuid = requireSession();
  return { contact: outcomeOf(call('getContact', { params: { uuid }, loading: true }), fallback.getContact) };
}

/** What was typed stays: the contact is not asked for again after a refused submission. */
export function shouldRevalidate({
  formMethod,
  defaultShouldRevalidate,
}: ShouldRevalidateFunctionArgs): boolean {
  return formMethod === undefined && defaultShouldRevalidate;
}

interface Refusal {
  message: string;
  errors: Record<string, string>;
  goOn: string | undefined;
}

export async function action({ request }: ActionFunctionArgs): Promise<Response | Refusal> {
  const details = (await request.json()) as StudentDetails;
  const uuid = storedSession();
  if (!uuid) return { message: NO_SESSION_FOR_MEMBERSHIP, errors: {}, goOn: undefined };
  try {
    await call('submitDetails', { params: { uuid }, body: { ...details, isTOLA: true } });
  } catch (error) {
    const answered = error instanceof ApiError ? error : null;
    const sentence = answered && answered.status < 300 ? DETAILS_NOT_ACCEPTED : fallback.submitDetails;
    return { message: messageOf(error, sentence), errors: answered?.errors ?? {}, goOn: answered?.goOn };
  }
  raiseToast({ kind: 'success', title: 'Success', text: DETAILS_SUBMITTED });
  return redirect(screens.membership);
}

export function Component() {
  const { contact } = useLoaderData<typeof loader>();
  const [hasErrors, setHasErrors] = useState(false);
  return (
    <Card>
      <ProgressBar current="Student Details" />
      <PageHeading title="Student Details" hasErrors={hasErrors} />
      <Suspense fallback={<Placeholder />}>
        <Loaded contact={contact} onErrors={setHasErrors} />
      </Suspense>
    </Card>
  );
}

function Loaded({
  contact,
  onErrors,
}: {
  contact: Promise<Outcome<Data<'getContact'>>>;
  onErrors: (hasErrors: boolean) => void;
}) {
  const outcome = use(contact);
  if ('goOn' in outcome) return <GoOn to={outcome.goOn} />;
  const known = 'data' in outcome ? prefill(outcome.data, new Date().getFullYear()) : emptyDetails;
  return (
    <DetailsForm
      invitation={'data' in outcome ? outcome.data.invitation : null}
      initial={{ ...known, ...recall<StudentDetails>('joinDraft') }}
      loadError={'message' in outcome ? outcome.message : null}
      onErrors={onErrors}
    />
  );
}

function DetailsForm({
  invitation,
  initial,
  loadError,
  onErrors,
}: {
  invitation: string | null;
  initial: StudentDetails;
  loadError: string | null;
  onErrors: (hasErrors: boolean) => void;
}) {
  const { society } = useSite();
  const fetcher = useFetcher<typeof action>();
  const [attention, setAttention] = useState(0);
  const currentYear = new Date().getFullYear();
  const { register, handleSubmit, clearErrors, setError, setFocus, setValue, subscribe, watch, formState } =
    useForm<StudentDetails>({
      defaultValues: initial,
      reValidateMode: 'onSubmit',
      shouldFocusError: false,
      resolver: (values) => {
        const broken = studentDetailsErrors(values, { currentYear, country: countryRule });
        const errors = Object.fromEntries(
          Object.entries(broken).map(([field, message]) => [field, { type: 'rule', message }]),
        );
        return Object.keys(errors).length > 0 ? { values: {}, errors } : { values, errors: {} };
      },
    });
  const country = findCountry(watch('country'));
  const subdivisions = country?.subdivisions ?? [];
  const broken = studentDetailsFields.flatMap((field) => {
    const message = formState.errors[field]?.message;
    return message ? [{ field, message }] : [];
  });
  const hasErrors = broken.length > 0;
  const busy = fetcher.state !== 'idle';
  const refusal = !busy && fetcher.data && 'message' in fetcher.data ? fetcher.data : null;

  useEffect(
    () => subscribe({ formState: { values: true }, callback: ({ values }) => keep('joinDraft', values) }),
    [subscribe],
  );
  useEffect(() => onErrors(hasErrors), [hasErrors, onErrors]);
  useEffect(() => {
    if (!refusal) return;
    const fields = Object.entries(refusal.errors).filter(([field]) => isField(field));
    for (const [field, message] of fields)
      setError(field as StudentDetailsField, { type: 'server', message });
    if (fields.length > 0) setAttention((count) => count + 1);
  }, [refusal, setError]);

  /** What every field has: its name, its error, and that editing it clears that error. */
  const field = (name: StudentDetailsField) => ({
    ...register(name, {
      onChange: () => {
        clearErrors(name);
        if (name === 'country') {
          setValue('state', '');
          clearErrors('state');
        }
      },
    }),
    id: name,
    error: formState.errors[name]?.message,
  });
  function mend(name: 'personalEmail' | 'schoolEmail', email: string) {
    setValue(name, email);
    clearErrors(name);
    setFocus(name);
  }
  const submit = handleSubmit(
    (values) => {
      if (!busy)
        void fetcher.submit({ ...trimDetails(values) }, { method: 'post', encType: 'application/json' });
    },
    () => setAttention((count) => count + 1),
  );

  return (
    <form className={styles.form} noValidate onSubmit={(event) => void submit(event)}>
      {invitation && <p className={styles.invitation}>{invitation}</p>}
      <ErrorSummary errors={broken} attention={attention} />
      {loadError && <Alert>{loadError}</Alert>}
      <Group title="About you">
        <div className={styles.two}>
          <TextField {...field('firstName')} label="First name" autoComplete="given-name" required />
          <TextField {...field('middleName')} label="Middle name" optional autoComplete="additional-name" />
        </div>
        <TextField {...field('lastName')} label="Last name" autoComplete="family-name" required />
        <div className={styles.two}>
          <div>
            <TextField
              {...field('personalEmail')}
              label="Personal email"
              type="email"
              inputMode="email"
              autoComplete="email"
              required
            />
            <EmailSuggestion
              typed={watch('personalEmail')}
              onTake={(email) => mend('personalEmail', email)}
            />
          </div>
          <div>
            <TextField
              {...field('schoolEmail')}
              label="School email"
              optional
              type="email"
              inputMode="email"
              autoComplete="section-school email"
            />
            <EmailSuggestion typed={watch('schoolEmail')} onTake={(email) => mend('schoolEmail', email)} />
          </div>
        </div>
      </Group>
      <Group title="Where you live">
        <SelectField {...field('country')} label="Country" autoComplete="country-name" required>
          {countries.map(({ name }) => (
            <option key={name}>{name}</option>
          ))}
        </SelectField>
        <TextField {...field('address1')} label="Address line 1" autoComplete="address-line1" required />
        <TextField {...field('address2')} label="Address line 2" optional autoComplete="address-line2" />
        <div className={styles.place}>
          <TextField {...field('city')} label="City" autoComplete="address-level2" required />
          {subdivisions.length > 0 ? (
            <SelectField
              key={country?.name}
              {...field('state')}
              label="State/Province"
              autoComplete="address-level1"
              required
            >
              <option value="">Choose…</option>
              {subdivisions.map(({ name }) => (
                <option key={name}>{name}</option>
              ))}
            </SelectField>
          ) : (
            <TextField
              key={country?.name}
              {...field('state')}
              label="State/Province"
              optional
              autoComplete="address-level1"
            />
          )}
          <TextField {...field('zipcode')} label="Zipcode" autoComplete="postal-code" required />
        </div>
      </Group>
      <Group title="Your school">
        <TextField
          {...field('highSchoolName')}
          label="High school name"
          autoComplete="organization"
          required
        />
        <div className={styles.short}>
          <SelectField {...field('highSchoolGraduationYear')} label="Graduation year" required>
            <option value="">Choose…</option>
            {graduationYears(currentYear).map((year) => (
              <option key={year}>{year}</option>
            ))}
          </SelectField>
          <SelectField {...field('highSchoolGpa')} label="High school GPA" required>
            <option value="">Choose…</option>
            {gpaValues.map((gpa) => (
              <option key={gpa}>{gpa}</option>
            ))}
          </SelectField>
        </div>
      </Group>
      <div className={styles.end}>
        <Checkbox
          {...field('agreeToPolicies')}
          label="I agree to the policies"
          hint={
            <>
              Read them first: <a href={society.links.privacy}>privacy policy</a> and{' '}
              <a href={society.links.refunds}>refund policy</a>.
            </>
          }
          required
        />
        {refusal && Object.keys(refusal.errors).filter(isField).length === 0 && (
          <Alert>
            {refusal.message} {refusal.goOn && <a href={refusal.goOn}>Continue where you left off</a>}
          </Alert>
        )}
        <Button type="submit" full disabled={hasErrors} busy={busy && 'Submitting...'}>
          Save
        </Button>
        <div className={ui.foot}>
          <StartOver />
        </div>
      </div>
    </form>
  );
}

function isField(name: string): name is StudentDetailsField {
  return (studentDetailsFields as readonly string[]).includes(name);
}

function Group({ title, children }: { title: string; children: ReactNode }) {
  return (
    <fieldset className={styles.group}>
      <legend>{title}</legend>
      {children}
    </fieldset>
  );
}

/** The size of the form that comes. */
function Placeholder() {
  return (
    <div className={styles.form} role="status" aria-busy="true" data-waiting>
      <span className="sr">Loading…</span>
      {[2, 4, 2].map((rows, group) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: nothing here moves
        <div className={styles.group} key={group}>
          <Bone className={styles.boneTitle} />
          {Array.from({ length: rows }, (_, row) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: nothing here moves
            <div key={row}>
              <Bone className={styles.boneLabel} />
              <Bone className={styles.boneInput} />
            </div>
          ))}
        </div>
      ))}
      <Bone className={styles.boneInput} />
    </div>
  );
}
