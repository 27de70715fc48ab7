import styles from './Field.module.css';

/** A choice that shows all its options. `options` are the values and their labels. Nothing is chosen while `value` is null. */
export function Radios({
  name,
  legend,
  options,
  value,
  onChange,
}: {
  name: string;
  legend: string;
  options: readonly { value: string; label: string }[];
  value: string | null;
  onChange: (value: string) => void;
}) {
  return (
    <fieldset>
      <legend className={styles.label}>{legend}</legend>
      {options.map((option) => (
        <div key={option.value} className={styles.check}>
          <input
            type="radio"
            id={`${name}-${option.value}`}
            name={name}
            value={option.value}
            checked={option.value === value}
            onChange={() => onChange(option.value)}
          />
          <label htmlFor={`${name}-${option.value}`}>{option.label}</label>
        </div>
      ))}
    </fieldset>
  );
}
