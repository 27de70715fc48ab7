import { useEffect, useState } from 'react';
import { emailSuggestion } from '#core/emailSuggestion.ts';
import styles from './ui.module.css';

/** Suggests another domain under an email field when the typed domain looks mistyped. */
export function EmailSuggestion({ typed, onTake }: { typed: string; onTake: (email: string) => void }) {
  const [suggestion, setSuggestion] = useState<string | null>(null);
  useEffect(() => {
    setSuggestion(null);
    // Debounced, because "gmail.co" may be an unfinished "gmail.com".
    const pause = setTimeout(() => setSuggestion(emailSuggestion(typed)), 600);
    return () => clearTimeout(pause);
  }, [typed]);
  return (
    <p className={styles.suggestion} role="status">
      {suggestion && (
        <span>
          Did you mean{' '}
          <button type="button" onClick={() => onTake(suggestion)}>
            {suggestion}
          </button>
          ?
        </span>
      )}
    </p>
  );
}
