import { useEffect, useState } from 'react';
import { emailSuggestion } from '#core/emailSuggestion.ts';
import styles from './ui.module.css';

/** A suggestion under an email field: another domain when the typed one looks like a typo. */
export function EmailSuggestion({ typed, onTake }: { typed: string; onTake: (email: string) => void }) {
  const [suggestion, setSuggestion] = useState<string | null>(null);
  useEffect(() => {
    setSuggestion(null);
    // Debounced, since "gmail.co" may be the beginning of "gmail.com".
    const pause = setTimeout(() => setSuggestion(emailSuggestion(typed)), 600);
    return () => clearTimeout(pause);
  }, [typed]);
  return (
    <p className={styles.suggestion} role="status">
      {suggestion && (
        <>
          Did you mean{' '}
          <button type="button" onClick={() => onTake(suggestion)}>
            {suggestion}
          </button>
          ?
        </>
      )}
    </p>
  );
}
