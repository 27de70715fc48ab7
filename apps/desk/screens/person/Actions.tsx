import { useRef } from 'react';
import { Link } from 'react-router';
import { hasRightsOf } from '#core/staff.ts';
import { Button, buttonClass } from '#ui/Button.tsx';
import { useMe } from '../../lib/me.ts';
import { useDoing } from '../../lib/useDoing.ts';
import { isHeld, isPaid, takesTranscripts } from './joins.ts';
import type { PersonData } from './loadPerson.ts';
import styles from './Person.module.css';

/** The actions on a person: frequent ones as buttons in a row, and the others in a menu. */
export function Actions({ person }: { person: PersonData }) {
  const { start } = useDoing();
  const menu = useRef<HTMLDetailsElement>(null);
  const isFinance = hasRightsOf(useMe().role, 'finance');
  const hasJoins = person.joins.some(({ isErased }) => !isErased);
  const rest = [
    hasJoins && (['send-link', "Send the join's link"] as const),
    hasJoins && (['stop-reminders', 'Stop reminders'] as const),
    hasJoins && (['end-links', 'End links already sent'] as const),
    person.joins.some(takesTranscripts) && (['add-transcript', 'Add a transcript'] as const),
    isFinance && person.joins.some(({ payments }) => payments.length > 0) && (['settle', 'Settle'] as const),
  ].filter((each) => each !== false);
  return (
    <div className={styles.bar}>
      <Link
        to={`/people/${person.id}/correct`}
        className={buttonClass({ variant: 'second', slim: true })}
        preventScrollReset
      >
        Correct
      </Link>
      {isFinance && person.joins.some(isPaid) && (
        <Button variant="second" slim onClick={() => start('refund')}>
          Refund
        </Button>
      )}
      {person.joins.some(isHeld) && (
        <Button variant="second" slim onClick={() => start('certificate')}>
          Certificate
        </Button>
      )}
      <Button variant="second" slim onClick={() => start('make-link')}>
        Make a link
      </Button>
      {rest.length > 0 && (
        <details ref={menu} className={styles.more}>
          <summary className={buttonClass({ variant: 'second', slim: true })}>More</summary>
          <ul>
            {rest.map(([action, name]) => (
              <li key={action}>
                <Button
                  variant="quiet"
                  onClick={() => {
                    // When the dialog closes, the focus returns to the element that had it. It must not be this button, which is
                    // about to be hidden.
                    menu.current?.querySelector('summary')?.focus();
                    menu.current?.removeAttribute('open');
                    start(action);
                  }}
                >
                  {name}
                </Button>
              </li>
            ))}
          </ul>
        </details>
      )}
    </div>
  );
}
