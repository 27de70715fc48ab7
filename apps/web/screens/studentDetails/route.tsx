import { type ChangeEvent, type ReactNode, useEffect, useMemo, useState } from 'react';
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
  type StudentDetailsErrors,
  type StudentDetailsField,
  studentDetailsErrors,
  studentDetailsFields,
  trimDetails,
} from '#core/studentDetails.ts';
import { DEFAULT_COUNTRY } from '#reference/lookup.ts';
import { Alert } from '../../components/Alert.tsx';
import { Button } from '../../components/Button.tsx';
import { Card } from '../../components/Card.tsx';
import { EmailSuggestion } from '../../components/EmailSuggestion.tsx';
import { ErrorSummary } from '../../components/ErrorSummary.tsx';
import { Checkbox, TextField } from '../../components/Field.tsx';
import { GoOn } from '../../components/GoOn.tsx';
import { PageHeading } from '../../components/PageHeading.tsx';
import { ProgressBar } from '../../components/ProgressBar.tsx';
import { optionsOf, SelectField } from '../../components/SelectField.tsx';
import { Bone } from '../../components/Skeleton.tsx';
import { StartOver } from '../../components/StartOver.tsx';
import ui from '../../components/ui.module.css';
import { download, useAhead } from '../../lib/ahead.ts';
import { keepAnswer } from '../../lib/answerAhead.ts';
import { ApiError, call, messageOf, type Outcome, outcomeOf, requireSession } from '../../lib/api.ts';
import { useArrived } from '../../lib/arrived.ts';
import { countries, countryRule, findCountry, subdivisionsOf, useSubdivisions } from '../../lib/countries.ts';
import { keep, recall, storedSession } from '../../lib/session.ts';
import { useSite } from '../../lib/site.ts';
import { raiseToast } from '../../lib/toasts.ts';
import { emptyDetails, type Place, prefill } from './prefill.ts';
import styles from './styles.module.css';

interface Known {
  contact: Outcome<Data<'getContact'>>;
  /** Where the contact lives, or the default. */
  place: Place;
}

export function loader(): { known: Promise<Known> } {
  return { known: load(requireSession()) };
}

/** The contact, and the subdivisions that the form begins with: its state is found among them. */
async function load(uuid: string): Promise<Known> {
  const contact = await outcomeOf(
    call('getContact', { params: { uuid }, loading: true }),
    fallback.getContact,
  );
  const given = 'data' in contact ? findCountry(contact.data.country ?? '') : undefined;
  const country = given ?? findCountry(DEFAULT_COUNTRY)!;
  const drafted = findCountry(recall<StudentDetails>('joinDraft')?.country ?? '');
  const [subdivisions] = await Promise.all([subdivisionsOf(country), drafted && subdivisionsOf(drafted)]);
  return { contact, place: { ...country, subdivisions } };
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
    const { membershipDetails } = await call('submitDetails', {
      params: { uuid },
      body: { ...details, isTOLA: true },
    });
    keepAnswer('getMembershipDetails', uuid, membershipDetails);
  } catch (error) {
    const answered = error instanceof ApiError ? error : null;
    const sentence = answered && answered.status < 300 ? DETAILS_NOT_ACCEPTED : fallback.submitDetails;
    return { message: messageOf(error, sentence), errors: answered?.errors ?? {}, goOn: answered?.goOn };
  }
  raiseToast({ kind: 'success', title: 'Success', text: DETAILS_SUBMITTED });
  return redirect(screens.membership);
}

export function Component() {
  const { known } = useLoaderData<typeof loader>();
  const [hasErrors, setHasErrors] = useState(false);
  return (
    <Card>
      <ProgressBar current="Student Details" />
      <PageHeading title="Student Details" hasErrors={hasErrors} />
      <Loaded loading={known} onErrors={setHasErrors} />
    </Card>
  );
}

function Loaded({ loading, onErrors }: { loading: Promise<Known>; onErrors: (hasErrors: boolean) => void }) {
  const arrived = useArrived(loading);
  if (!arrived) return <Placeholder />;
  const { contact, place } = arrived;
  if ('goOn' in contact) return <GoOn to={contact.goOn} />;
  // Nothing that would be typed could be saved.
  if ('message' in contact && contact.isLost)
    return (
      <div className={ui.stack}>
        <Alert>{contact.message}</Alert>
        <StartOver />
      </div>
    );
  const known = 'data' in contact ? prefill(contact.data, new Date().getFullYear(), place) : emptyDetails;
  return (
    <DetailsForm
      invitation={'data' in contact ? contact.data.invitation : null}
      initial={{ ...known, ...recall<StudentDetails>('joinDraft') }}
      loadError={'message' in contact ? contact.message : null}
      onErrors={onErrors}
    />
  );
}

const CHOOSE = 'Choose…';
const namesOf = (places: readonly { name: string }[]) => places.map(({ name }) => name);
/** Made once: a form is drawn with every letter that is typed, and hundreds of options with it. */
const countryOptions = optionsOf(namesOf(countries));
const gpaOptions = optionsOf(gpaValues, CHOOSE);

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
  const [values, setValues] = useState(initial);
  const [errors, setErrors] = useState<StudentDetailsErrors>({});
  const country = findCountry(values.country);
  const subdivisions = useSubdivisions(country);
  const yearOptions = useMemo(() => optionsOf(graduationYears(currentYear), CHOOSE), [currentYear]);
  const subdivisionOptions = useMemo(
    () =>
      Array.isArray(subdivisions) ? optionsOf(namesOf(subdivisions), CHOOSE) : optionsOf([], 'Loading…'),
    [subdivisions],
  );
  const broken = studentDetailsFields.flatMap((field) => {
    const message = errors[field];
    return message ? [{ field, message }] : [];
  });
  const hasErrors = broken.length > 0;
  const busy = fetcher.state !== 'idle';
  const refusal = !busy && fetcher.data && 'message' in fetcher.data ? fetcher.data : null;

  useAhead(download.membership);
  const [drawnFirst] = useState(values);
  useEffect(() => {
    if (values !== drawnFirst) keep('joinDraft', values);
  }, [values, drawnFirst]);
  useEffect(() => onErrors(hasErrors), [hasErrors, onErrors]);
  useEffect(() => {
    if (!refusal) return;
    const refused = Object.entries(refusal.errors).filter(([field]) => isField(field));
    if (refused.length === 0) return;
    setErrors((now) => ({ ...now, ...Object.fromEntries(refused) }));
    setAttention((count) => count + 1);
  }, [refusal]);

  /** Editing a field clears its error. Several may change at once: browsers and password managers fill in forms. */
  function change(changed: Partial<StudentDetails>) {
    setValues((now) => ({ ...now, ...changed }));
    setErrors((now) => {
      const left = { ...now };
      for (const name of Object.keys(changed)) delete left[name as StudentDetailsField];
      return left;
    });
  }
  const common = (name: StudentDetailsField) => ({ id: name, name, error: errors[name] });
  const field = (name: Exclude<StudentDetailsField, 'agreeToPolicies'>) => ({
    ...common(name),
    value: values[name],
    onChange: ({ target: { value } }: ChangeEvent<HTMLInputElement | HTMLSelectElement>) =>
      change(name === 'country' ? { country: value, state: '' } : { [name]: value }),
  });
  function mend(name: 'personalEmail' | 'schoolEmail', email: string) {
    change({ [name]: email });
    document.getElementById(name)?.focus();
  }
  function submit() {
    const found = studentDetailsErrors(values, { currentYear, country: countryRule });
    setErrors(found);
    if (Object.keys(found).length > 0) setAttention((count) => count + 1);
    else if (!busy)
      void fetcher.submit({ ...trimDetails(values) }, { method: 'post', encType: 'application/json' });
  }

  return (
    <form
      className={styles.form}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
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
            <EmailSuggestion typed={values.personalEmail} onTake={(email) => mend('personalEmail', email)} />
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
            <EmailSuggestion typed={values.schoolEmail} onTake={(email) => mend('schoolEmail', email)} />
          </div>
        </div>
      </Group>
      <Group title="Where you live">
        <SelectField
          {...field('country')}
          label="Country"
          autoComplete="country-name"
          options={countryOptions}
          required
        />
        <TextField {...field('address1')} label="Address line 1" autoComplete="address-line1" required />
        <TextField {...field('address2')} label="Address line 2" optional autoComplete="address-line2" />
        <div className={styles.place}>
          <TextField {...field('city')} label="City" autoComplete="address-level2" required />
          {subdivisions === 'coming' || (subdivisions && subdivisions.length > 0) ? (
            <SelectField
              key={country?.name}
              {...field('state')}
              label="State/Province"
              autoComplete="address-level1"
              options={subdivisionOptions}
              required
            />
          ) : (
            <TextField
              key={country?.name}
              {...field('state')}
              label="State/Province"
              // Without its list, one that the country has is typed.
              optional={subdivisions !== null}
              required={subdivisions === null}
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
          <SelectField
            {...field('highSchoolGraduationYear')}
            label="Graduation year"
            options={yearOptions}
            required
          />
          <SelectField {...field('highSchoolGpa')} label="High school GPA" options={gpaOptions} required />
        </div>
      </Group>
      <div className={styles.end}>
        <Checkbox
          {...common('agreeToPolicies')}
          checked={values.agreeToPolicies}
          onChange={({ target }) => change({ agreeToPolicies: target.checked })}
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
        <Button
          type="submit"
          full
          disabled={hasErrors}
          busy={busy && 'Submitting...'}
          aria-describedby={hasErrors ? 'whyNotSaved' : undefined}
        >
          Save
        </Button>
        {hasErrors && (
          <p className={ui.hint} id="whyNotSaved">
            {broken.length === 1 ? 'One answer is' : `${broken.length} answers are`} missing or not right yet:
            they are marked above, and listed at the top.
          </p>
        )}
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
