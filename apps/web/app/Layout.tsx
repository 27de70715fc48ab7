import { memo, type ReactElement, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { type Location, Outlet, ScrollRestoration, useLocation, useNavigation } from 'react-router';
import { screenAt } from '#core/navigation.ts';
import { Icon } from '#ui/icons.tsx';
import { noteNavigation } from '#ui/PageHeading.tsx';
import { Crest } from '../components/Crest.tsx';
import { lastReference } from '../lib/reference.ts';
import { phoneLink, useSite } from '../lib/site.ts';
import { loadToaster } from '../lib/toasts.ts';
import { placeholderOf } from '../screens/lazyScreens.tsx';
import styles from './Layout.module.css';

/**
 * The header, the current screen and the footer. It is memoized; otherwise each change of the router's state would render it again.
 */
export const Layout = memo(() => {
  const { society } = useSite();
  usePrefetchedToaster();
  return (
    <div className={styles.page}>
      <a className={styles.skip} href="#main">
        Skip to the page
      </a>
      <header className={styles.header}>
        <Crest />
        <div className={styles.names}>
          <p className={styles.name}>{society.name}</p>
          <p className={styles.tagline}>{society.tagline}</p>
        </div>
        <p className={styles.questions}>
          <span className={styles.questionsWord}>Questions? </span>
          <a href={phoneLink(society.supportPhone)}>
            <Icon name="phone" size={20} />
            <span className={styles.number}>{society.supportPhone}</span>
          </a>
        </p>
        <Progress />
      </header>
      <main id="main" className={styles.main}>
        <Screen />
      </main>
      <Footer />
      <ScrollRestoration />
    </div>
  );
});

/**
 * While a navigation to a screen with a placeholder is pending, returns the target's location and the placeholder. Otherwise
 * returns null.
 */
function usePending(): { next: Location; placeholder: ReactElement } | null {
  const { pathname } = useLocation();
  const { location: next } = useNavigation();
  if (!next || next.pathname === pathname) return null;
  const name = screenAt(next.pathname);
  const placeholder = name && placeholderOf(name);
  return placeholder ? { next, placeholder } : null;
}

/**
 * Renders the current screen or, during a navigation to a screen with a placeholder, that placeholder. The placeholder is scrolled
 * to its top, except after Back and Forward.
 */
function Screen() {
  const location = useLocation();
  const pending = usePending();
  const { key } = pending?.next ?? location;
  // Whether the pending navigation creates a new history entry. Back and Forward create none: the browser is already at the
  // target's entry, and the page must keep its scroll position. The history entry of the first screen has no key.
  const isNew = pending !== null && (window.history.state?.key ?? 'default') !== key;
  const lastKey = useRef(key);
  useLayoutEffect(() => {
    if (lastKey.current === key) return;
    lastKey.current = key;
    noteNavigation();
    if (isNew) window.scrollTo(0, 0);
  }, [key, isNew]);
  return pending ? pending.placeholder : <Outlet />;
}

/** A progress bar under the header, during a navigation in which the previous screen stays visible. */
function Progress() {
  const { state } = useNavigation();
  const pending = usePending();
  return <div className={styles.progress} data-busy={(state !== 'idle' && !pending) || undefined} />;
}

function Footer() {
  const { society } = useSite();
  return (
    <footer className={styles.footer}>
      <Reference />
      <Questions />
      <nav aria-label="About the society">
        <ul>
          <li>
            <a href={society.links.whoWeAre}>Who we are</a>
          </li>
          <li>
            <a href={society.links.privacy}>Privacy</a>
          </li>
          <li>
            <a href={society.links.refunds}>Refunds</a>
          </li>
        </ul>
      </nav>
      <ul>
        <li>
          <a href={`mailto:${society.supportEmail}`}>{society.supportEmail}</a>
        </li>
        <li>
          <a href={phoneLink(society.supportPhone)}>{society.supportPhone}</a>
        </li>
      </ul>
    </footer>
  );
}

/** The reference of the last failure, which the joiner can quote to support. */
function Reference() {
  const reference = lastReference.use();
  return reference && <p className={styles.reference}>{`Reference for the last problem: ${reference}`}</p>;
}

/** Questions and answers. The answers are rendered only while the element is open. */
function Questions() {
  const [isOpen, setOpen] = useState(false);
  return (
    <details className={styles.doubts} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Questions before you join?</summary>
      {isOpen && <Answers />}
    </details>
  );
}

function Answers() {
  const { society, questions, programmes } = useSite();
  const all = Object.entries(programmes);
  return (
    <dl>
      {questions.map(({ title, text }) => (
        <div key={title}>
          <dt>{title}</dt>
          <dd>{text}</dd>
        </div>
      ))}
      <div>
        <dt>Who is eligible?</dt>
        {all.map(([key, { eligibility }]) => (
          <dd key={key}>
            {eligibility.intro} {eligibility.rules.join('; ')}.
          </dd>
        ))}
      </div>
      <div>
        <dt>Can I get my money back?</dt>
        {all.map(([key, { name, refund }]) => (
          <dd key={key}>
            {all.length > 1 && `${name}: `}
            {refund}
          </dd>
        ))}
      </div>
      <div>
        <dt>Who can I call?</dt>
        <dd>
          {society.name}, {society.supportPhone} or {society.supportEmail}.
        </dd>
      </div>
    </dl>
  );
}

/**
 * Downloads the code of the toasts at the first interaction. Otherwise it would be downloaded for the first toast. If that toast
 * reports that the network has failed, the download would fail, too.
 */
function usePrefetchedToaster(): void {
  useEffect(() => {
    const load = () => void loadToaster().catch(() => {});
    const events = ['focusin', 'pointerdown'] as const;
    for (const event of events) window.addEventListener(event, load, { once: true });
    return () => {
      for (const event of events) window.removeEventListener(event, load);
    };
  }, []);
}
