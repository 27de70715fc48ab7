import { useEffect, useState } from 'react';
import { Link, useNavigate } from 'react-router';
import type { Data } from '#contract/schemas.ts';
import { progressSteps, screens } from '#core/navigation.ts';
import { Note } from '#ui/Alert.tsx';
import { Button, buttonClass } from '#ui/Button.tsx';
import { Icon } from '#ui/icons.tsx';
import { SupportEmail, SupportPhone } from '../../components/Support.tsx';
import { call } from '../../lib/api.ts';
import { prefetch } from '../../lib/prefetch.ts';
import { storedSession, undoMs, undoStartOver } from '../../lib/session.ts';
import { useSite } from '../../lib/site.ts';
import { lazyScreens } from '../lazyScreens.tsx';
import styles from './Returning.module.css';

type OpenJoin = NonNullable<Data<'getOpenJoin'>['join']>;
type Offer =
  | { kind: 'undo' }
  | ({ kind: 'continue' } & OpenJoin)
  | { kind: 'welcome'; firstName: string | null };

/**
 * Offers to continue the stored join if it is unpaid, to open its welcome page if it is paid, or to undo Start Over. The offer
 * overlays the page, so that nothing moves when it appears.
 */
export function Returning() {
  const navigate = useNavigate();
  const [offer, setOffer] = useState<Offer | null>(null);

  useEffect(() => {
    const ms = undoMs();
    if (ms > 0) {
      setOffer({ kind: 'undo' });
      const timer = setTimeout(() => setOffer(null), ms);
      return () => clearTimeout(timer);
    }
    const uuid = storedSession();
    if (!uuid) return;
    const { signal, abort } = abortable();
    call('getOpenJoin', { params: { uuid }, quiet: true, signal }).then(
      ({ join, paid }) => {
        if (join) setOffer({ kind: 'continue', ...join });
        else if (paid) setOffer({ kind: 'welcome', ...paid });
        else return;
        prefetch(lazyScreens[join ? screenOf(join).key : 'congratulations'].load);
      },
      // If the call fails, nothing is offered. The joiner can still use the form.
      () => {},
    );
    return abort;
  }, []);

  if (!offer) return null;
  const { label, words, press } = wordingOf(offer);
  return (
    <section className={styles.offer} aria-label={label}>
      <p role="status">{words}</p>
      <Button
        onClick={() => {
          const path = pathOf(offer);
          if (path === null) setOffer(null);
          else void navigate(path);
        }}
      >
        {press}
      </Button>
      <button
        type="button"
        className={buttonClass({ variant: 'close' })}
        aria-label="Close"
        onClick={() => setOffer(null)}
      >
        <Icon name="close" size={16} />
      </button>
    </section>
  );
}

function abortable() {
  const controller = new AbortController();
  return { signal: controller.signal, abort: () => controller.abort() };
}

const keys = ['studentDetails', 'membership', 'checkout'] as const;

/** Returns the step on which an unpaid join continues. */
function screenOf({ goOn }: OpenJoin) {
  const index = Math.max(
    0,
    progressSteps.findIndex(({ path }) => path === goOn),
  );
  return { key: keys[index]!, number: index + 1, name: progressSteps[index]!.name };
}

function pathOf(offer: Offer): string | null {
  if (offer.kind === 'undo') return undoStartOver();
  return offer.kind === 'welcome' ? screens.congratulations : offer.goOn;
}

/** Returns the accessible name of an offer, its sentence, and the text of its button. */
function wordingOf(offer: Offer): { label: string; words: string; press: string } {
  if (offer.kind === 'undo')
    return {
      label: 'You started over',
      words: 'You started over. What you entered will be deleted in a minute.',
      press: 'Undo',
    };
  const greeting = offer.firstName ? `Welcome back, ${offer.firstName}.` : 'Welcome back.';
  if (offer.kind === 'welcome')
    return {
      label: 'Your membership',
      words: `${greeting} Your membership and its receipt are on your welcome page.`,
      press: 'Go to your welcome page',
    };
  const { number, name } = screenOf(offer);
  return {
    label: 'Continue your registration',
    words: `${greeting} You were at step ${number} of ${progressSteps.length}, ${name}.`,
    press: 'Continue your registration',
  };
}

/**
 * Shown after a payment return to a browser that knows no join: the joiner paid in another browser, or this browser stores
 * nothing. Says how to get back to the join.
 */
export function AfterPayment() {
  const { sendsLetters } = useSite();
  return (
    <div className={styles.afterPayment}>
      <Note>
        If you have just paid, please do not pay again: this browser no longer knows your registration.{' '}
        {sendsLetters ? (
          <>
            Your receipt comes by email, and <Link to={screens.pass}>Send me my link</Link> opens your
            registration here.
          </>
        ) : (
          <>
            Please call <SupportPhone /> or write to <SupportEmail />.
          </>
        )}
      </Note>
    </div>
  );
}
