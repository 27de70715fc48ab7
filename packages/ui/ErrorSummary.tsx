import { useEffect, useRef } from 'react';
import styles from './ErrorSummary.module.css';

/** Lists validation errors below `title`, with links to their fields. Takes the focus whenever `attention` increases. */
export function ErrorSummary({
  title,
  errors,
  attention,
}: {
  title: string;
  errors: readonly { field: string; message: string }[];
  attention: number;
}) {
  const box = useRef<HTMLDivElement>(null);
  const shown = errors.length > 0;
  useEffect(() => {
    if (attention > 0 && shown) box.current?.focus();
  }, [attention, shown]);
  if (!shown) return null;
  return (
    <div ref={box} className={styles.summary} role="alert" aria-labelledby="error-summary" tabIndex={-1}>
      <h2 id="error-summary">{title}</h2>
      <ul>
        {errors.map(({ field, message }) => (
          <li key={field}>
            <a
              href={`#${field}`}
              onClick={(event) => {
                event.preventDefault();
                document.getElementById(field)?.focus();
              }}
            >
              {message}
            </a>
          </li>
        ))}
      </ul>
    </div>
  );
}
