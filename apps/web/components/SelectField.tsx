import type { ComponentProps } from 'react';
import { FieldFrame, type FieldProps, fieldAttributes } from './Field.tsx';
import styles from './ui.module.css';

/**
 * The options of a `SelectField` as escaped HTML: React would create and compare hundreds of elements at every render. `first` is
 * the label of an empty option before them.
 */
export function optionsOf(names: readonly (string | number)[], first?: string): string {
  const escaped = names
    .map((name) => `<option>${String(name).replaceAll('&', '&amp;').replaceAll('<', '&lt;')}`)
    .join('');
  return first === undefined ? escaped : `<option value="">${first}${escaped}`;
}

export function SelectField({
  id,
  label,
  optional = false,
  hint,
  error,
  options,
  ...rest
}: FieldProps & Omit<ComponentProps<'select'>, 'children'> & { options: string }) {
  const common = { id, label, optional, hint, error };
  return (
    <FieldFrame {...common}>
      <select
        {...rest}
        {...fieldAttributes(common)}
        className={styles.input}
        // biome-ignore lint/security/noDangerouslySetInnerHtml: escaped by `optionsOf`
        dangerouslySetInnerHTML={{ __html: options }}
      />
    </FieldFrame>
  );
}
