import type { ComponentProps } from 'react';
import { type Common, Frame, tied } from './Field.tsx';
import styles from './ui.module.css';

/**
 * The options of a `SelectField`, as markup: hundreds of them as elements of React's would each be made, looked through and
 * taken down again with every step to and from their screen. `first` stands before the names, and means none of them.
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
}: Common & Omit<ComponentProps<'select'>, 'children'> & { options: string }) {
  const common = { id, label, optional, hint, error };
  return (
    <Frame {...common}>
      <select
        {...rest}
        {...tied(common)}
        className={styles.input}
        // biome-ignore lint/security/noDangerouslySetInnerHtml: escaped by `optionsOf`
        dangerouslySetInnerHTML={{ __html: options }}
      />
    </Frame>
  );
}
