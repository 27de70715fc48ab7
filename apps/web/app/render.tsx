import { type ComponentType, StrictMode } from 'react';
import { renderToString } from 'react-dom/server';
import { createMemoryRouter, RouterProvider } from 'react-router';
import type { Site } from '#contract/schemas.ts';
import { PageLoader } from '../components/PageLoader.tsx';
import { SiteContext } from '../lib/site.ts';
import * as getStarted from '../screens/getStarted/route.tsx';
import { Layout } from './Layout.tsx';

/**
 * Get Started as the server writes it into the page (inside the element `root`), with the society's names: painted
 * before any script has run, then taken over by main.tsx, which draws the same tree.
 */
export function renderGetStarted(site: Site): string {
  return renderScreen(site, getStarted.Component);
}

/** What every other screen shows until its scripts and its data are there; main.tsx draws the screen in its place. */
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
