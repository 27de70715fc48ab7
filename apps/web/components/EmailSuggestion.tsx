import { cleanEmail } from '#core/cleanText.ts';
import { emailSuggestion } from '#core/emailSuggestion.ts';
import { isProviderEmail } from '#core/providerEmail.ts';
import { isEmail } from '#core/studentDetails.ts';
import { FieldQuestion, useSettled } from '#ui/FieldQuestion.tsx';

/**
 * Shown below an email field. Suggests another domain if the typed one looks mistyped, and asks about an email that no mail
 * server would accept. The form can be sent despite either.
 */
export function EmailSuggestion({ typed, onTake }: { typed: string; onTake: (email: string) => void }) {
  const email = useSettled(cleanEmail(typed));
  const suggestion = emailSuggestion(email);
  return (
    <FieldQuestion>
      {isEmail(email) && !isProviderEmail(email) && <span>Is this right? We cannot send mail to it. </span>}
      {suggestion && (
        <span>
          Did you mean{' '}
          <button type="button" onClick={() => onTake(suggestion)}>
            {suggestion}
          </button>
          ?
        </span>
      )}
    </FieldQuestion>
  );
}
