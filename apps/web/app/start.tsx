import { StrictMode, startTransition, useEffect, useState } from 'react';
import { createRoot, hydrateRoot } from 'react-dom/client';
import { RouterProvider } from 'react-router/dom';
import type { Site } from '#contract/schemas.ts';
import { linkQuery } from '#core/linkQuery.ts';
import { queryForGetStarted, screens } from '#core/navigation.ts';
import { type FaultKind, reportFault } from '../lib/reportFault.ts';
import { keepOwnJoin, noteLostReturn } from '../lib/session.ts';
import { SiteContext, setSite } from '../lib/site.ts';
import { setToaster } from '../lib/toasts.ts';
import { createRouter, firstPath } from './router.tsx';

/**
 * Renders the first screen in a React transition, which input can interrupt. After the first input, navigations render
 * synchronously, because with transitions the previous screen would be painted in between.
 */
function Screens({ router }: { router: ReturnType<typeof createRouter> }) {
  const [hasInput, setHasInput] = useState(false);
  useEffect(() => {
    const noteInput = () => setHasInput(true);
    for (const event of ['pointerdown', 'keydown'] as const)
      window.addEventListener(event, noteInput, { once: true });
  }, []);
  return <RouterProvider router={router} {...(hasInput && { useTransitions: false })} />;
}

const reported = (kind: FaultKind) => (error: unknown) => {
  console.error(error);
  reportFault(kind, error);
};
const options = { onRecoverableError: reported('recovered'), onUncaughtError: reported('uncaught') };

/** Renders the app, or hydrates Get Started if the server rendered it. */
export function start(site: Site) {
  setSite(site);
  setToaster(() => import(/* webpackChunkName: "toaster" */ '../lib/toaster.ts'));
  keepOwnJoin();
  document.getElementById('late')?.remove();
  const { pathname, search, hash } = window.location;
  const path = firstPath(pathname);
  if (path !== pathname) {
    // A payment never returns to the home page, so the home page is left out here.
    if (pathname !== '/' && linkQuery(search).has('payment_intent')) noteLostReturn();
    window.history.replaceState(null, '', path + queryForGetStarted(search));
  } else if (hash === '#main') window.history.replaceState(null, '', pathname + search);

  const router = createRouter();
  const app = (
    <StrictMode>
      <SiteContext value={site}>
        <Screens router={router} />
      </SiteContext>
    </StrictMode>
  );
  const container = document.getElementById('root') as HTMLElement;
  // The server has prerendered Get Started for the default programme only.
  const programme = linkQuery(search).get('programme') ?? site.defaultProgramme;
  const isPrerendered =
    ['/', screens.getStarted].includes(pathname) &&
    container.firstElementChild !== null &&
    programme === site.defaultProgramme;
  startTransition(() => {
    if (isPrerendered) hydrateRoot(container, app, options);
    // On all other screens, React's first render replaces the server's HTML.
    else createRoot(container, options).render(app);
  });
}
