import { Link } from 'react-router';
import type { Offered } from '#core/deskOffers.ts';
import { hasRightsOf } from '#core/staff.ts';
import { buttonClass } from '#ui/Button.tsx';
import { useMe } from '../lib/me.ts';
import styles from './Offers.module.css';

/**
 * What solves a problem: links for the roles that may use them, or a sentence if no page of the desk solves it. `of`: the id of
 * the element with the problem's text.
 */
export function Offers({ offers, advice, of }: Offered & { of: string }) {
  const { role } = useMe();
  const mine = offers.filter((offer) => hasRightsOf(role, offer.role));
  const isForOthers = mine.length === 0 && offers.length > 0;
  return (
    <>
      {(advice ?? (isForOthers && 'Somebody with the role finance can mend it.')) && (
        <p className={styles.advice}>{advice ?? 'Somebody with the role finance can mend it.'}</p>
      )}
      {mine.length > 0 && (
        <p className={styles.offers}>
          {mine.map(({ name, path }) => (
            <Link
              key={path}
              to={path}
              preventScrollReset
              aria-describedby={of}
              className={buttonClass({ variant: 'second', slim: true })}
            >
              {name}
            </Link>
          ))}
        </p>
      )}
    </>
  );
}
