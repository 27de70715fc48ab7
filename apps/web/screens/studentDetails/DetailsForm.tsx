import { type ChangeEvent, type ReactNode, useEffect, useState } from 'react';
import { useFetcher, useRevalidator } from 'react-router';
import type { LoadFailure } from '#client/failures.ts';
import { cleanText } from '#core/cleanText.ts';
import { postcodeQuestion } from '#core/postcode.ts';
import { CARDS_ACCEPTED } from '#core/sentences.ts';
import {
  cleanDetails,
  fieldLabels,
  gpaValues,
  graduationYears,
  optionalFields,
  type SubmittedDetails,
  type SubmittedField,
  studentDetailsErrors,
  submittedFields,
} from '#core/studentDetails.ts';
import { DEFAULT_COUNTRY } from '#reference/lookup.ts';
import { Alert, Note } from '#ui/Alert.tsx';
import { Button } from '#ui/Button.tsx';
import { ErrorSummary } from '#ui/ErrorSummary.tsx';
import { Checkbox, TextField } from '#ui/Field.tsx';
import { FieldQuestion, useSettled } from '#ui/FieldQuestion.tsx';
import { Form } from '#ui/Form.tsx';
import { optionsOf, SelectField } from '#ui/SelectField.tsx';
import { Hint } from '#ui/Text.tsx';
import { useForm } from '#ui/useForm.ts';
import { EmailSuggestion } from '../../components/EmailSuggestion.tsx';
import { Foot } from '../../components/Foot.tsx';
import { LoadFailed } from '../../components/LoadFailed.tsx';
import { StartOver } from '../../components/StartOver.tsx';
import { SupportEmail } from '../../components/Support.tsx';
import {
  countryOfOption,
  countryOptions,
  countryRule,
  findCountry,
  useSubdivisions,
} from '../../lib/countries.ts';
import { usePrefetch } from '../../lib/prefetch.ts';
import { draft, storedProgramme } from '../../lib/session.ts';
import { useSite } from '../../lib/site.ts';
import { lazyScreens } from '../lazyScreens.tsx';
import type { action } from './action.ts';
import type { UnreadFields } from './prefill.ts';
import styles from './styles.module.css';

type Checked = 'agreeToPolicies' | 'hasGuardianConsent';

const CHOOSE = 'Choose…';
const email = { type: 'email', inputMode: 'email', autoCapitalize: 'none' } as const;
/** The autofill and keyboard attributes of the text fields. A field that is not optional is required. */
const texts = {
  firstName: { autoComplete: 'given-name', autoCapitalize: 'words' },
  middleName: { autoComplete: 'additional-name', autoCapitalize: 'words' },
  lastName: { autoComplete: 'family-name', autoCapitalize: 'words' },
  personalEmail: { autoComplete: 'email', ...email },
  schoolEmail: { autoComplete: 'section-school email', ...email },
  address1: { autoComplete: 'address-line1', autoCapitalize: 'words' },
  address2: { autoComplete: 'address-line2', autoCapitalize: 'words' },
  city: { autoComplete: 'address-level2', autoCapitalize: 'words' },
  zipcode: { autoComplete: 'postal-code', autoCapitalize: 'characters' },
  highSchoolName: { autoComplete: 'off', autoCapitalize: 'words' },
} as const;
const gpaOptions = optionsOf(gpaValues);
const namesOf = (places: readonly { name: string }[]) => places.map(({ name }) => name);

/**
 * The form of Student Details.
 * - `guardianConsent`: the sentence that asks for guardian consent; null if the programme does not ask for it.
 * - `unread`: the contact's values that the form cannot show.
 * - `failure`: why the contact could not be loaded. The form can be used nevertheless. A later try prefills it if nothing has
 *   been typed.
 */
export function DetailsForm({
  invitation,
  guardianConsent,
  initial,
  unread,
  failure,
}: {
  invitation: string | null;
  guardianConsent: string | null;
  initial: SubmittedDetails;
  unread: UnreadFields;
  failure: LoadFailure | null;
}) {
  const site = useSite();
  const { society } = site;
  const fetcher = useFetcher<typeof action>();
  const { revalidate } = useRevalidator();
  const currentYear = new Date().getFullYear();
  const asksGuardianConsent = guardianConsent !== null;
  const form = useForm(initial, (details) =>
    studentDetailsErrors(details, { currentYear, country: countryRule, asksGuardianConsent }),
  );
  const { values, errors, isTouched, refuse } = form;
  const programme = site.programmes[storedProgramme() ?? site.defaultProgramme];
  const rule = programme?.eligibility.lowGpa;
  const lowGpa =
    rule && values.highSchoolGpa !== '' && Number(values.highSchoolGpa) < Number(rule.below)
      ? rule.note
      : null;
  const isLoaded = failure === null;
  const [wasLoaded, setWasLoaded] = useState(isLoaded);
  if (isLoaded && !wasLoaded) {
    setWasLoaded(true);
    if (!isTouched) form.restart(initial);
  }
  const country = findCountry(values.country);
  const subdivisions = useSubdivisions(country, form.attention);
  const zipQuestion = postcodeQuestion(useSettled(cleanText(values.zipcode)), values);
  const invalidFields = submittedFields.flatMap((field) => {
    const message = errors[field];
    return message ? [{ field, message }] : [];
  });
  const hasErrors = invalidFields.length > 0;
  const busy = fetcher.state !== 'idle';
  const refusal = !busy && fetcher.data && 'message' in fetcher.data ? fetcher.data : null;

  usePrefetch(lazyScreens.membership.load);
  useEffect(() => {
    if (isTouched) draft.keep(values);
  }, [values, isTouched]);
  useEffect(() => {
    if (!refusal) return;
    const refused = Object.entries(refusal.errors).filter(([name]) => isField(name, asksGuardianConsent));
    if (refused.length === 0) return;
    refuse(Object.fromEntries(refused));
  }, [refusal, asksGuardianConsent, refuse]);
  // Whether the server asks for guardian consent although the form does not have the sentence for it. Either the programme began
  // to ask for it after the page was loaded, or the contact could not be loaded. In both cases the effect below loads the
  // sentence.
  const isSentenceMissing = !asksGuardianConsent && refusal?.errors.hasGuardianConsent !== undefined;
  useEffect(() => {
    if (isSentenceMissing) void revalidate();
  }, [isSentenceMissing, revalidate]);

  /**
   * While the form is being submitted, its fields cannot be changed. Otherwise the page would show a change that the server has
   * not received.
   */
  function change(changed: Partial<SubmittedDetails>) {
    if (!busy) form.change(changed);
  }
  const common = (name: SubmittedField) => ({ id: name, name, error: errors[name] });
  /** Changes a field's value to the form in which it will be saved. */
  function tidy(name: Exclude<SubmittedField, Checked>) {
    const cleaned = cleanDetails(values)[name];
    if (cleaned !== values[name]) change({ [name]: cleaned });
  }
  const field = (name: Exclude<SubmittedField, Checked>) => ({
    ...common(name),
    label: fieldLabels[name],
    value: values[name],
    hint: unread[name] && `Your record says: ${unread[name]}`,
    onBlur: () => tidy(name),
    onChange: ({ target: { value } }: ChangeEvent<HTMLInputElement | HTMLSelectElement>) =>
      change(name === 'country' ? { country: countryOfOption(value), state: '' } : { [name]: value }),
  });
  const text = (name: keyof typeof texts) => {
    const optional = optionalFields.includes(name);
    return { ...texts[name], ...field(name), optional, required: !optional };
  };
  const checkbox = (name: Checked) => ({
    ...common(name),
    checked: values[name],
    onChange: ({ target }: ChangeEvent<HTMLInputElement>) => change({ [name]: target.checked }),
  });
  const emailField = (name: 'personalEmail' | 'schoolEmail') => (
    <div>
      <TextField {...text(name)} />
      <EmailSuggestion
        typed={values[name]}
        onTake={(suggestion) => {
          change({ [name]: suggestion });
          document.getElementById(name)?.focus();
        }}
      />
    </div>
  );
  function submit() {
    const details = cleanDetails(values);
    if (!busy) form.change(details);
    if (Object.keys(form.check(details)).length > 0 || busy) return;
    const { hasGuardianConsent, ...specified } = details;
    const submitted = { ...specified, ...(asksGuardianConsent && { hasGuardianConsent }) };
    void fetcher.submit(submitted, { method: 'post', encType: 'application/json' });
  }

  return (
    <Form className={styles.form} onSubmit={submit}>
      {invitation && <p className={styles.invitation}>{invitation}</p>}
      <ErrorSummary title="There is a problem" errors={invalidFields} attention={form.attention} />
      {failure && <LoadFailed failure={failure} />}
      <Group title="About you">
        <div className={styles.two}>
          <TextField {...text('firstName')} />
          <TextField {...text('middleName')} />
        </div>
        <TextField {...text('lastName')} />
        <div className={styles.two}>
          {emailField('personalEmail')}
          {emailField('schoolEmail')}
        </div>
      </Group>
      <Group title="Where you live">
        <SelectField
          {...field('country')}
          autoComplete="country-name"
          placeholder={CHOOSE}
          options={countryOptions}
          required
        />
        {values.country !== '' && values.country !== DEFAULT_COUNTRY && (
          <Note>
            You will pay in US dollars. {CARDS_ACCEPTED} If you have no such card, write to <SupportEmail />{' '}
            before you go on.
          </Note>
        )}
        <Hint>For your certificate, and for anything we mail you. Only the society’s staff see it.</Hint>
        <TextField {...text('address1')} />
        <TextField {...text('address2')} />
        <div className={styles.place}>
          <TextField {...text('city')} />
          {subdivisions === 'loading' || (subdivisions && subdivisions.length > 0) ? (
            <SelectField
              key={country?.name}
              {...field('state')}
              autoComplete="address-level1"
              placeholder={subdivisions === 'loading' ? 'Loading…' : CHOOSE}
              options={subdivisions === 'loading' ? [] : optionsOf(namesOf(subdivisions))}
              required
            />
          ) : (
            <TextField
              key={country?.name}
              {...field('state')}
              // The state is required if the country has subdivisions but their list could not be fetched.
              optional={subdivisions !== null}
              required={subdivisions === null}
              autoComplete="address-level1"
              autoCapitalize="words"
            />
          )}
          <div>
            <TextField {...text('zipcode')} />
            <FieldQuestion>{zipQuestion && <span>{zipQuestion}</span>}</FieldQuestion>
          </div>
        </div>
      </Group>
      <Group title="Your school">
        <TextField {...text('highSchoolName')} />
        <div className={styles.short}>
          <SelectField
            {...field('highSchoolGraduationYear')}
            placeholder={CHOOSE}
            options={optionsOf(graduationYears(currentYear))}
            required
          />
          <SelectField {...field('highSchoolGpa')} placeholder={CHOOSE} options={gpaOptions} required />
        </div>
        <Hint>Your GPA shows whether you are eligible. Only the society’s staff see it.</Hint>
        {lowGpa && <Note isAnswer>{lowGpa}</Note>}
      </Group>
      <div className={styles.end}>
        <Checkbox
          {...checkbox('agreeToPolicies')}
          label="I agree to the policies"
          hint={
            <>
              Read them first: <a href={society.links.privacy}>privacy policy</a> and{' '}
              <a href={society.links.refunds}>refund policy</a>.
            </>
          }
          required
        />
        {guardianConsent !== null && (
          <Checkbox {...checkbox('hasGuardianConsent')} label={guardianConsent} required />
        )}
        {refusal && !Object.keys(refusal.errors).some((name) => isField(name, asksGuardianConsent)) && (
          <Alert isAnswer>
            {refusal.message} {refusal.goOn && <a href={refusal.goOn}>Continue where you left off</a>}
          </Alert>
        )}
        <Button
          type="submit"
          full
          disabled={hasErrors}
          busy={busy && 'Submitting...'}
          aria-describedby={hasErrors ? 'unsaved' : undefined}
        >
          Save
        </Button>
        {hasErrors && (
          <Hint id="unsaved">
            {invalidFields.length === 1
              ? 'One answer is missing or needs a correction. It is marked above and listed at the top.'
              : `${invalidFields.length} answers are missing or need a correction. They are marked above and listed at the top.`}
          </Hint>
        )}
        <Foot>
          <StartOver />
        </Foot>
      </div>
    </Form>
  );
}

/** Whether the form shows a field of this name. */
function isField(name: string, asksGuardianConsent: boolean): boolean {
  return name === 'hasGuardianConsent'
    ? asksGuardianConsent
    : (submittedFields as readonly string[]).includes(name);
}

function Group({ title, children }: { title: string; children: ReactNode }) {
  return (
    <fieldset className={styles.group}>
      <legend>{title}</legend>
      {children}
    </fieldset>
  );
}
