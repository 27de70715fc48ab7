import { useEffect, useState } from 'react';
import { Link, useNavigate } from 'react-router';
import type { Data } from '#contract/schemas.ts';
import { progressSteps, screens } from '#core/navigation.ts';
import { Note } from '../../components/Alert.tsx';
import { Button } from '../../components/Button.tsx';
import { Icon } from '../../components/screenIcons.tsx';
import ui from '../../components/ui.module.css';
import { call } from '../../lib/api.ts';
import { prefetch } from '../../lib/prefetch.ts';
import { storedSession, undoMs, undoStartOver } from '../../lib/session.ts';
import { phoneLink, useSite } from '../../lib/site.ts';
import { lazyScreens } from '../lazyScreens.tsx';
import styles from './Returning.module.css';

type OpenJoin = NonNullable<Data<'getOpenJoin'>['join']>;
type Offer = { kind: 'undo' } | ({ kind: 'continue' } & OpenJoin);

/**
 * Offers to continue the stored join if it is unpaid, or to undo Start Over. The offer overlays the page, so that nothing moves
 * when it appears.
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
      ({ join }) => {
        if (!join) return;
        setOffer({ kind: 'continue', ...join });
        prefetch(lazyScreens[screenOf(join).key].load);
      },
      // If the call fails, nothing is offered. The joiner can still use the form.
      () => {},
    );
    return abort;
  }, []);

  if (!offer) return null;
  const isUndo = offer.kind === 'undo';
  return (
    <section className={styles.offer} aria-label={isUndo ? 'You started over' : 'Continue your join'}>
      <p role="status">
        {isUndo ? 'You started over. What you had entered is gone in a minute.' : wordsFor(offer)}
      </p>
      <Button
        onClick={() => {
          const path = isUndo ? undoStartOver() : offer.goOn;
          if (path === null) setOffer(null);
          else void navigate(path);
        }}
      >
        {isUndo ? 'Undo' : 'Continue your join'}
      </Button>
      <button type="button" className={ui.close} aria-label="Close" onClick={() => setOffer(null)}>
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

/** Returns the step where an unpaid join continues. */
function screenOf({ goOn }: OpenJoin) {
  const index = Math.max(
    0,
    progressSteps.findIndex(({ path }) => path === goOn),
  );
  return { key: keys[index]!, number: index + 1, name: progressSteps[index]!.name };
}

function wordsFor(join: OpenJoin): string {
  const { number, name } = screenOf(join);
  const greeting = join.firstName ? `Welcome back, ${join.firstName}.` : 'Welcome back.';
  return `${greeting} You were at step ${number} of ${progressSteps.length}, ${name}.`;
}

/**
 * Shown after a payment return to a browser that knows no join: the joiner paid in another browser, or this browser stores
 * nothing. Says how to get to the join.
 */
export function AfterPayment() {
  const { society, sendsLetters } = useSite();
  return (
    <div className={styles.afterPayment}>
      <Note>
        If you have just paid, please do not pay again: this browser no longer knows your join.{' '}
        {sendsLetters ? (
          <>
            Your receipt comes by email, and <Link to={screens.pass}>Send me my link</Link> opens your join
            here.
          </>
        ) : (
          <>
            Please call <a href={phoneLink(society.supportPhone)}>{society.supportPhone}</a>, or write to{' '}
            <a href={`mailto:${society.supportEmail}`}>{society.supportEmail}</a>.
          </>
        )}
      </Note>
    </div>
  );
}
