import { StrictMode, startTransition } from 'react';
import { createRoot, hydrateRoot } from 'react-dom/client';
import { RouterProvider } from 'react-router/dom';
import type { Site } from '#contract/schemas.ts';
import { screens } from '#core/navigation.ts';
import { noteNavigation } from './components/PageHeading.tsx';
import { askEarly } from './early.ts';
import { createRouter, firstPath } from './router.tsx';
import { storedSession } from './session.ts';
import { SiteContext, setSite } from './site.ts';

/** Draws the screen of this address, or takes over what was painted of it. */
export function start(site: Site) {
  setSite(site);
  const root = document.documentElement.style;
  root.setProperty('--gold', site.society.colours.gold);
  root.setProperty('--red', site.society.colours.red);

  const { pathname, search, hash } = window.location;
  const path = firstPath(pathname);
  if (path !== pathname)
    window.history.replaceState(null, '', path === screens.getStarted ? path + search : path);
  else if (hash === '#main') window.history.replaceState(null, '', pathname + search);

  askEarly(site.apiUrl, path, storedSession());
  const router = createRouter();
  noteNavigation(router);
  const app = (
    <StrictMode>
      <SiteContext value={site}>
        <RouterProvider router={router} />
      </SiteContext>
    </StrictMode>
  );
  const container = document.getElementById('root') as HTMLElement;
  // The server paints Get Started for the default programme; another one, which the query names, is drawn anew.
  const programme = new URLSearchParams(search).get('programme') ?? site.defaultProgramme;
  const isPainted = container.firstElementChild !== null && programme === site.defaultProgramme;
  // As a transition, so that it is drawn in pieces between which the page can answer a touch.
  startTransition(() => {
    if (path === screens.getStarted && isPainted) hydrateRoot(container, app);
    // What was painted stays until the screen is drawn in its place.
    else createRoot(container).render(app);
  });
}
