import { StrictMode, startTransition, useEffect, useState } from 'react';
import { createRoot, hydrateRoot } from 'react-dom/client';
import { RouterProvider } from 'react-router/dom';
import type { Site } from '#contract/schemas.ts';
import { queryForGetStarted, screens } from '#core/navigation.ts';
import { keepOwnJoin } from '../lib/session.ts';
import { SiteContext, setSite } from '../lib/site.ts';
import { setToaster } from '../lib/toasts.ts';
import { createRouter, firstPath } from './router.tsx';

/**
 * A visit's first screen is drawn in pieces, between which the page can answer a touch. From then on a step is drawn in one go:
 * in pieces, the old screen would be painted between them.
 */
function Screens({ router }: { router: ReturnType<typeof createRouter> }) {
  const [isTouched, setTouched] = useState(false);
  useEffect(() => {
    const touch = () => setTouched(true);
    for (const event of ['pointerdown', 'keydown'] as const)
      window.addEventListener(event, touch, { once: true });
  }, []);
  return <RouterProvider router={router} {...(isTouched && { useTransitions: false })} />;
}

/** Draws the screen of this address, or takes over what was painted of it. */
export function start(site: Site) {
  setSite(site);
  setToaster(() => import(/* webpackChunkName: "toaster" */ '../components/Toaster.tsx'));
  keepOwnJoin();
  const { pathname, search, hash } = window.location;
  const path = firstPath(pathname);
  if (path !== pathname) window.history.replaceState(null, '', path + queryForGetStarted(search));
  else if (hash === '#main') window.history.replaceState(null, '', pathname + search);

  const router = createRouter();
  const app = (
    <StrictMode>
      <SiteContext value={site}>
        <Screens router={router} />
      </SiteContext>
    </StrictMode>
  );
  const container = document.getElementById('root') as HTMLElement;
  // The server paints Get Started for the default programme; another one, which the query names, is drawn anew.
  const programme = new URLSearchParams(search).get('programme') ?? site.defaultProgramme;
  const isPainted =
    ['/', screens.getStarted].includes(pathname) &&
    container.firstElementChild !== null &&
    programme === site.defaultProgramme;
  // As a transition, so that it is drawn in pieces between which the page can answer a touch.
  startTransition(() => {
    if (isPainted) hydrateRoot(container, app);
    // What was painted stays until the screen is drawn in its place.
    else createRoot(container).render(app);
  });
}
