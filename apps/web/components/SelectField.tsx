import type { ComponentProps } from 'react';
import { FieldFrame, type FieldProps, fieldAttributes } from './Field.tsx';
import styles from './ui.module.css';

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
    options: readonly string[];
  }) {
  const common = { id, label, optional, hint, error };
  return (
    <FieldFrame {...common}>
      <select {...rest} {...fieldAttributes(common)} className={styles.input}>
        {placeholder !== undefined && <option value="">{placeholder}</option>}
        {options.map((option) => (
          <option key={option} value={option}>
            {option}
          </option>
        ))}
      </select>
    </FieldFrame>
  );
}
