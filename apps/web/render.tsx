import { StrictMode } from 'react';
import { renderToString } from 'react-dom/server';
import { createMemoryRouter, RouterProvider } from 'react-router';
import type { Site } from '#contract/schemas.ts';
import { screens } from '#core/navigation.ts';
import { Layout } from './components/Layout.tsx';
import * as getStarted from './routes/getStarted.tsx';
import { SiteContext } from './site.ts';

/**
 * Get Started as the server writes it into the page (inside the element `root`), with the society's names: painted
 * before any script has run, then taken over by main.tsx, which draws the same tree.
 */
export function render(site: Site): string {
  const router = createMemoryRouter(
    [
      {
        id: 'root',
        Component: Layout,
        children: [{ path: screens.getStarted, Component: getStarted.Component }],
      },
    ],
    { initialEntries: [screens.getStarted] },
  );
  return renderToString(
    <StrictMode>
      <SiteContext value={site}>
        <RouterProvider router={router} />
      </SiteContext>
    </StrictMode>,
  );
}
