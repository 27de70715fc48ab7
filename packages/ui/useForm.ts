import { useCallback, useState } from 'react';

/** The error of each field that has one. */
export type FormErrors<Values> = Partial<Record<keyof Values & string, string>>;

/**
 * Keeps what is typed in a form, and the errors that `rules` find when the form is checked. An error goes when its field is edited.
 * `attention` counts how often errors were found, for {@link ErrorSummary}.
 */
export function useForm<Values extends object>(given: Values, rules: (values: Values) => FormErrors<Values>) {
  const [initial, setInitial] = useState(given);
  const [values, setValues] = useState(given);
  const [errors, setErrors] = useState<FormErrors<Values>>({});
  const [attention, setAttention] = useState(0);

  /** Shows these errors beside those that are shown. */
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
    /** Begins again with other values. */
    restart(others: Values): void {
      setInitial(others);
      setValues(others);
    },
    /** Applies the rules to the values, as they are or cleaned. Returns the errors that it then shows. */
    check(cleaned: Values = values): FormErrors<Values> {
      const found = rules(cleaned);
      setErrors(found);
      if (Object.keys(found).length > 0) setAttention((count) => count + 1);
      return found;
    },
    refuse,
  };
}
