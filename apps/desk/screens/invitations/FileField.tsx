import { MOST_FILE_BYTES } from '#contract/deskLimits.ts';
import { FieldFrame, fieldAttributes, inputClass } from '#ui/Field.tsx';
import { sizeWords } from '../../lib/words.ts';
import styles from './Invitations.module.css';

const NO_FILE = 'Please choose a file.';

/** Returns why a file cannot be sent; null if it can. */
export function fileFault(file: File | null): string | null {
  if (!file) return NO_FILE;
  if (file.size === 0) return 'This file is empty.';
  return file.size > MOST_FILE_BYTES
    ? `This file has ${sizeWords(file.size)}. ${sizeWords(MOST_FILE_BYTES)} are the most: split it.`
    : null;
}

/** A field to choose a CSV file. */
export function FileField({
  label,
  hint,
  error,
  onChange,
}: {
  label: string;
  hint: string;
  error: string | null;
  onChange: (file: File | null) => void;
}) {
  const common = { id: 'file', label, hint, error };
  return (
    <FieldFrame {...common}>
      <input
        {...fieldAttributes(common)}
        type="file"
        accept=".csv,.txt,text/csv"
        className={`${inputClass} ${styles.file}`}
        onChange={({ target }) => onChange(target.files?.[0] ?? null)}
      />
    </FieldFrame>
  );
}
