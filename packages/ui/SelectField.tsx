import type { ComponentProps } from 'react';
import { FieldFrame, type FieldProps, fieldAttributes, inputClass } from './Field.tsx';
import styles from './SelectField.module.css';

export interface Option {
  value: string;
  label: string;
}

/** Returns options whose labels are their values. */
export const optionsOf = (labels: readonly string[]): Option[] =>
  labels.map((label) => ({ value: label, label }));

/**
 * A dropdown. `placeholder` is the label of an empty first option. Each option has its value, because a browser that translates the
 * page changes the labels.
 */
export function SelectField({
  id,
  label,
  optional = false,
  hint,
  error,
  placeholder,
  options,
  ...rest
}: FieldProps &
  Omit<ComponentProps<'select'>, 'children'> & {
    placeholder?: string;
    options: readonly Option[];
  }) {
  const common = { id, label, optional, hint, error };
  return (
    <FieldFrame {...common}>
      <select {...rest} {...fieldAttributes(common)} className={`${inputClass} ${styles.select}`}>
        {placeholder !== undefined && <option value="">{placeholder}</option>}
        {options.map(({ value, label: text }) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    </FieldFrame>
  );
}
