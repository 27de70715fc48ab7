import { useState } from 'react';
import { useLoaderData, useNavigate } from 'react-router';
import { ApiError, messageOf } from '#client/failures.ts';
import {
  type CorrectableField,
  cleanDetails,
  correctable,
  fieldLabels,
  noDetails,
  optionalFields,
  studentDetailsErrors,
} from '#core/studentDetails.ts';
import { countries, countryRule } from '#reference/countries.ts';
import { Alert } from '#ui/Alert.tsx';
import { Button } from '#ui/Button.tsx';
import { ErrorSummary } from '#ui/ErrorSummary.tsx';
import { Checkbox, TextField } from '#ui/Field.tsx';
import { Form } from '#ui/Form.tsx';
import { optionsOf, SelectField } from '#ui/SelectField.tsx';
import { useForm } from '#ui/useForm.ts';
import { ActionDialog } from '../../../components/ActionDialog.tsx';
import { Section } from '../../../components/Section.tsx';
import { tryAction } from '../../../lib/actions.ts';
import { usePerson } from '../loadPerson.ts';
import styles from './Correct.module.css';
import type { loadCorrectable } from './loadCorrectable.ts';

type Values = Record<CorrectableField, string>;

const CHOOSE = 'Choose…';
const NOT_TRIED = 'What would change could not be asked. Please try again.';

/** The form that corrects a person. The correction itself is made in a dialog, which first shows its consequences. */
export function Component() {
  const given = useLoaderData<typeof loadCorrectable>();
  if ('refusal' in given)
    return (
      <Section title="Correct">
        <Alert>{given.refusal}</Alert>
      </Section>
    );
  return <CorrectForm details={given.details} />;
}

function CorrectForm({ details }: { details: Values }) {
  const { id } = usePerson();
  const navigate = useNavigate();
  const form = useForm(details, (values) => errorsOf(details, values));
  const { values, errors } = form;
  const [fault, setFault] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const [isShown, setShown] = useState(false);
  // Null while staff have not changed a checkbox: it is then ticked if the email changes.
  const [ticks, setTicks] = useState<{ sendAgain: boolean | null; endLinks: boolean | null }>({
    sendAgain: null,
    endLinks: null,
  });
  const cleaned = cleanValues(values);
  const changed = changesOf(details, cleaned);
  const isOtherEmail = 'personalEmail' in changed;
  const { sendAgain, endLinks } = {
    sendAgain: ticks.sendAgain ?? isOtherEmail,
    endLinks: ticks.endLinks ?? isOtherEmail,
  };
  const asked = {
    name: 'correctPerson',
    params: { id: String(id) },
    body: { details: changed, sendAgain, endLinks },
  } as const;
  const goOn = async () => {
    setFault(null);
    form.change(cleaned);
    if (isBusy || Object.keys(form.check(cleaned)).length > 0) return;
    if (Object.keys(changed).length === 0) {
      setShown(true);
      return;
    }
    setBusy(true);
    try {
      await tryAction(asked, new AbortController().signal);
      setShown(true);
    } catch (error) {
      if (error instanceof ApiError && Object.keys(error.errors).length > 0) form.refuse(error.errors);
      else setFault(messageOf(error, NOT_TRIED));
    }
    setBusy(false);
  };
  const field = (name: CorrectableField) => ({
    id: name,
    label: fieldLabels[name],
    optional: optionalFields.includes(name),
    value: values[name],
    error: errors[name],
    autoComplete: 'off',
    readOnly: isBusy,
    onChange: ({ target: { value } }: { target: { value: string } }) =>
      form.change(name === 'country' ? { country: value, state: '' } : { [name]: value }),
  });
  const states = countryRule(values.country)?.subdivisions ?? [];
  const choice = (name: 'country' | 'state', listed: readonly string[]) => {
    const { readOnly, ...rest } = field(name);
    const isListed = values[name] === '' || listed.includes(values[name]);
    return {
      ...rest,
      disabled: readOnly,
      placeholder: CHOOSE,
      options: optionsOf(isListed ? listed : [values[name], ...listed]),
    };
  };
  return (
    <Section title="Correct">
      <Form className={styles.form} onSubmit={goOn}>
        <ErrorSummary
          title="There is a problem"
          errors={correctable.flatMap((name) =>
            errors[name] ? [{ field: name, message: errors[name] }] : [],
          )}
          attention={form.attention}
        />
        <div className={styles.row}>
          <TextField {...field('firstName')} />
          <TextField {...field('middleName')} />
          <TextField {...field('lastName')} />
        </div>
        <div className={styles.row}>
          <TextField {...field('personalEmail')} inputMode="email" />
          <TextField {...field('schoolEmail')} inputMode="email" />
        </div>
        <div className={styles.row}>
          <TextField {...field('address1')} />
          <TextField {...field('address2')} />
        </div>
        <div className={styles.row}>
          <TextField {...field('city')} />
          {states.length > 0 ? (
            <SelectField {...choice('state', states)} />
          ) : (
            <TextField {...field('state')} optional />
          )}
          <TextField {...field('zipcode')} />
          <SelectField {...choice('country', countryNames)} />
        </div>
        {fault !== null && <Alert isAnswer>{fault}</Alert>}
        <div className={styles.end}>
          <Button type="submit" slim busy={isBusy && 'Asking…'}>
            Continue
          </Button>
          <Button variant="second" slim onClick={() => void navigate(`/people/${id}`)}>
            Cancel
          </Button>
        </div>
      </Form>
      {isShown && (
        <ActionDialog
          asked={asked}
          title="Correct this person?"
          done="Corrected."
          onClose={() => setShown(false)}
          onDone={() => void navigate(`/people/${id}`)}
        >
          <div>
            <Checkbox
              id="send-again"
              label="Send the confirmation again"
              checked={sendAgain}
              onChange={({ target }) => setTicks({ ...ticks, sendAgain: target.checked })}
            />
            <Checkbox
              id="end-links"
              label="End links already sent"
              hint="Who reads the old address may have them."
              checked={endLinks}
              onChange={({ target }) => setTicks({ ...ticks, endLinks: target.checked })}
            />
          </div>
        </ActionDialog>
      )}
    </Section>
  );
}

const countryNames = countries.map(({ name }) => name);

const cleanValues = (values: Values): Values => {
  const cleaned = cleanDetails({ ...noDetails, ...values });
  return Object.fromEntries(correctable.map((name) => [name, cleaned[name]])) as Values;
};

const changesOf = (before: Values, after: Values): Partial<Values> =>
  Object.fromEntries(
    correctable.flatMap((name) => (after[name] === before[name] ? [] : [[name, after[name]]])),
  );

/**
 * Applies the rules of Student Details to the changed fields only. An invalid value that is not changed does not prevent the
 * correction.
 */
function errorsOf(before: Values, after: Values): Partial<Values> {
  const all = studentDetailsErrors(
    { ...noDetails, ...after, hasGuardianConsent: true },
    { currentYear: new Date().getFullYear(), country: countryRule, asksGuardianConsent: false },
  );
  return Object.fromEntries(
    Object.keys(changesOf(before, after)).flatMap((name) => {
      const error = all[name as CorrectableField];
      return error ? [[name, error]] : [];
    }),
  );
}
