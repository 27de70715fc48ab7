import { type ReactNode, useEffect, useLayoutEffect, useRef } from 'react';
import { Outlet, ScrollRestoration, useLocation, useNavigation } from 'react-router';
import { noteNavigation } from '#ui/PageHeading.tsx';
import { SignInAgain, SignInPage } from '../components/SignIn.tsx';
import { me } from '../lib/me.ts';
import { Header } from './Header.tsx';
import styles from './Layout.module.css';
import { skeletonAt } from './skeletons.tsx';

/** The header and the page below it, or the sign-in page if nobody is signed in. `isFirst`: nothing has been loaded yet. */
export function Layout({ isFirst = false }: { isFirst?: boolean }) {
  const who = me.use();
  if (isFirst)
    return (
      <Frame>
        <Page isFirst />
      </Frame>
    );
  if (!who) return <SignInPage />;
  return (
    <Frame>
      <Page />
      <ScrollRestoration />
    </Frame>
  );
}

function Frame({ children }: { children: ReactNode }) {
  return (
    <div className={styles.page}>
      <a className={styles.skip} href="#main">
        Skip to the page
      </a>
      <Header />
      <main id="main" className={styles.main} tabIndex={-1}>
        {children}
      </main>
      <SignInAgain />
    </div>
  );
}

/** The page or, while a page with another path is loading, its skeleton. */
function Page({ isFirst = false }: { isFirst?: boolean }) {
  const { pathname } = useLocation();
  const { location: next, state } = useNavigation();
  const coming = isFirst ? pathname : next && next.pathname !== pathname ? next.pathname : null;
  const skeleton = coming === null ? null : skeletonAt(coming, isFirst ? null : pathname);
  const last = useRef(pathname);
  useLayoutEffect(() => {
    if (last.current === pathname) return;
    last.current = pathname;
    noteNavigation();
  }, [pathname]);
  useEffect(() => {
    if (skeleton && !isFirst) window.scrollTo(0, 0);
  }, [skeleton, isFirst]);
  if (skeleton)
    return (
      <>
        <p className="sr" role="status">
          Loading
        </p>
        {skeleton}
      </>
    );
  if (isFirst) return null;
  return (
    <div aria-busy={state !== 'idle' || undefined}>
      <Outlet />
    </div>
  );
}
