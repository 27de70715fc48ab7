import { useCallback, useState } from 'react';

/** The error of each field that has one. */
export type FormErrors<Values> = Partial<Record<keyof Values & string, string>>;

/**
 * Keeps the values typed in a form, and the errors that `rules` find when the form is checked. Editing a field removes its error.
 * `attention` counts how often errors were found, for {@link ErrorSummary}.
 */
export function useForm<Values extends object>(given: Values, rules: (values: Values) => FormErrors<Values>) {
  const [initial, setInitial] = useState(given);
  const [values, setValues] = useState(given);
  const [errors, setErrors] = useState<FormErrors<Values>>({});
  const [attention, setAttention] = useState(0);

  /** Adds these errors to those that are shown. */
  const refuse = useCallback((found: FormErrors<Values>): void => {
    setErrors((now) => ({ ...now, ...found }));
    setAttention((count) => count + 1);
  }, []);

  return {
    values,
    errors,
    attention,
    isTouched: values !== initial,
    /** Sets the edited fields and removes their errors. Autofill may change several fields at once. */
    change(changed: Partial<Values>): void {
      setValues((now) => ({ ...now, ...changed }));
      setErrors((now) => {
        const left = { ...now };
        for (const name of Object.keys(changed)) delete left[name as keyof Values & string];
        return left;
      });
    },
    /** Resets the form to other values. */
    restart(others: Values): void {
      setInitial(others);
      setValues(others);
    },
    /** Applies the rules to the values or, if given, to the cleaned values. Shows the errors and returns them. */
    check(cleaned: Values = values): FormErrors<Values> {
      const found = rules(cleaned);
      setErrors(found);
      if (Object.keys(found).length > 0) setAttention((count) => count + 1);
      return found;
    },
    refuse,
  };
}
