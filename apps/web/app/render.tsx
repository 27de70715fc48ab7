import { type ComponentType, StrictMode } from 'react';
import { renderToString } from 'react-dom/server';
import { createMemoryRouter, RouterProvider } from 'react-router';
import type { Site } from '#contract/schemas.ts';
import { PageLoader } from '../components/PageLoader.tsx';
import { SiteContext } from '../lib/site.ts';
import * as getStarted from '../screens/getStarted/route.tsx';
import { Layout } from './Layout.tsx';

/**
 * Renders Get Started as HTML for the element `root`. The server does this once at start. The browser paints this HTML before any
 * script runs, and React then hydrates it (start.tsx).
 */
export function renderGetStarted(site: Site): string {
  return renderScreen(site, getStarted.Component);
}

/** Renders a loading indicator as HTML. All screens but Get Started show it until React replaces it in the browser. */
export function renderWaiting(site: Site): string {
  return renderScreen(site, () => <PageLoader title={site.society.name} />);
}

function renderScreen(site: Site, Component: ComponentType): string {
  const router = createMemoryRouter([
    { id: 'root', Component: Layout, children: [{ index: true, Component }] },
  ]);
  return renderToString(
    <StrictMode>
      <SiteContext value={site}>
        <RouterProvider router={router} />
      </SiteContext>
    </StrictMode>,
  );
}
