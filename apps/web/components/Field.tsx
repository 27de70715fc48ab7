import type { ComponentProps, ReactNode } from 'react';
import { Icon } from './icons.tsx';
import styles from './ui.module.css';

interface Common {
  id: string;
  label: ReactNode;
  optional?: boolean;
  hint?: ReactNode;
  error?: string | undefined;
}

function describedBy({ id, hint, error }: Common): string | undefined {
  return [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(' ') || undefined;
}

function Frame({ id, label, optional, hint, error, children }: Common & { children: ReactNode }) {
  return (
    <div className={styles.field}>
      <label className={styles.label} htmlFor={id}>
        {label}
        {optional && <span className={styles.optional}> (optional)</span>}
      </label>
      {children}
      {hint && (
        <p className={styles.hint} id={`${id}-hint`}>
          {hint}
        </p>
      )}
      <FieldError id={id} message={error} />
    </div>
  );
}

export function FieldError({ id, message }: { id: string; message: string | undefined }) {
  return (
    message && (
      <p className={styles.error} id={`${id}-error`}>
        <Icon name="alert" size={16} />
        {message}
      </p>
    )
  );
}

export function TextField({
  id,
  label,
  optional = false,
  hint,
  error,
  ...rest
}: Common & ComponentProps<'input'>) {
  const common = { id, label, optional, hint, error };
  return (
    <Frame {...common}>
      <input
        type="text"
        {...rest}
        id={id}
        className={styles.input}
        aria-invalid={error ? true : undefined}
        aria-describedby={describedBy(common)}
      />
    </Frame>
  );
}

export function SelectField({
  id,
  label,
  optional = false,
  hint,
  error,
  children,
  ...rest
}: Common & ComponentProps<'select'>) {
  const common = { id, label, optional, hint, error };
  return (
    <Frame {...common}>
      <select
        {...rest}
        id={id}
        className={styles.input}
        aria-invalid={error ? true : undefined}
        aria-describedby={describedBy(common)}
      >
        {children}
      </select>
    </Frame>
  );
}

export function Checkbox({ id, label, hint, error, ...rest }: Common & ComponentProps<'input'>) {
  return (
    <div>
      <div className={styles.check}>
        <input
          {...rest}
          id={id}
          type="checkbox"
          aria-invalid={error ? true : undefined}
          aria-describedby={describedBy({ id, label, hint, error })}
        />
        <label htmlFor={id}>{label}</label>
      </div>
      {hint && (
        <p className={styles.hint} id={`${id}-hint`}>
          {hint}
        </p>
      )}
      <FieldError id={id} message={error} />
    </div>
  );
}
