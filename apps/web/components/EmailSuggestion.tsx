import { useEffect, useState } from 'react';
import { emailSuggestion } from '#core/emailSuggestion.ts';
import styles from './ui.module.css';

/** Under an email field, when a pause shows that its domain looks mistyped: one press mends it, and nothing insists. */
export function EmailSuggestion({ typed, onTake }: { typed: string; onTake: (email: string) => void }) {
  const [meant, setMeant] = useState<string | null>(null);
  useEffect(() => {
    setMeant(null);
    // Not while the address is being typed: "gmail.co" is on its way to "gmail.com".
    const pause = setTimeout(() => setMeant(emailSuggestion(typed)), 600);
    return () => clearTimeout(pause);
  }, [typed]);
  return (
    <p className={styles.suggestion} role="status">
      {meant && (
        <>
          Did you mean{' '}
          <button type="button" onClick={() => onTake(meant)}>
            {meant}
          </button>
          ?
        </>
      )}
    </p>
  );
}
