import type { AriaAttributes, ComponentProps, ReactNode } from 'react';
import styles from './Field.module.css';
import { Icon } from './icons.tsx';
import { Hint } from './Text.tsx';
import { useErrorInTitle } from './title.ts';

/** The class of a text input. */
export const inputClass = styles.input;

export interface FieldProps {
  id: string;
  label: ReactNode;
  optional?: boolean;
  hint?: ReactNode;
  error?: ReactNode;
}

/** Returns the attributes that connect a control to its label, hint and error. */
export function fieldAttributes({ id, hint, error }: FieldProps): AriaAttributes & { id: string } {
  return {
    id,
    'aria-invalid': error ? true : undefined,
    'aria-describedby': [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(' ') || undefined,
  };
}

/** Renders a field's label, hint and error around its control. */
export function FieldFrame({
  id,
  label,
  optional,
  hint,
  error,
  children,
}: FieldProps & { children: ReactNode }) {
  return (
    <div className={styles.field}>
      <label className={styles.label} htmlFor={id}>
        {label}
        {optional && <span className={styles.optional}> (optional)</span>}
      </label>
      {children}
      {hint && <Hint id={`${id}-hint`}>{hint}</Hint>}
      <FieldError id={id} message={error} />
    </div>
  );
}

function FieldError({ id, message }: { id: string; message: ReactNode }) {
  useErrorInTitle(Boolean(message));
  return (
    message && (
      <p className={styles.error} id={`${id}-error`}>
        <Icon name="alert" size={16} />
        <span>{message}</span>
      </p>
    )
  );
}

/**
 * A text field. Phones and browsers must not correct its text: names, codes and addresses are in no dictionary. `unit` is shown
 * in the field before the typed text, for example `$`.
 */
export function TextField({
  id,
  label,
  optional = false,
  hint,
  error,
  unit,
  ...rest
}: FieldProps & { unit?: string } & ComponentProps<'input'>) {
  const common = { id, label, optional, hint, error };
  const input = (
    <input
      type="text"
      autoCorrect="off"
      spellCheck={false}
      {...rest}
      {...fieldAttributes(common)}
      className={styles.input}
    />
  );
  return (
    <FieldFrame {...common}>
      {unit ? (
        <span className={styles.withUnit}>
          <span aria-hidden="true">{unit}</span>
          {input}
        </span>
      ) : (
        input
      )}
    </FieldFrame>
  );
}

/** A field for a text of several lines. */
export function TextArea({
  id,
  label,
  optional = false,
  hint,
  error,
  ...rest
}: FieldProps & ComponentProps<'textarea'>) {
  const common = { id, label, optional, hint, error };
  return (
    <FieldFrame {...common}>
      <textarea
        rows={3}
        {...rest}
        {...fieldAttributes(common)}
        className={`${styles.input} ${styles.area}`}
      />
    </FieldFrame>
  );
}

export function Checkbox({ id, label, hint, error, ...rest }: FieldProps & ComponentProps<'input'>) {
  return (
    <div>
      <div className={styles.check}>
        <input {...rest} {...fieldAttributes({ id, label, hint, error })} type="checkbox" />
        <label htmlFor={id}>{label}</label>
      </div>
      {hint && <Hint id={`${id}-hint`}>{hint}</Hint>}
      <FieldError id={id} message={error} />
    </div>
  );
}
