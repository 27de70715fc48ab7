import { createBrowserRouter, type RouteObject } from 'react-router';
import { PageFailed } from '../components/Failed.tsx';
import { Gone } from '../components/Gone.tsx';
import { learnMe } from '../lib/me.ts';
import { Enter } from '../screens/enter/Enter.tsx';
import { Passkeys } from '../screens/passkeys/Passkeys.tsx';
import { People } from '../screens/people/People.tsx';
import { searchPeople } from '../screens/people/searchPeople.ts';
import { loadCorrectable } from '../screens/person/correct/loadCorrectable.ts';
import { Documents } from '../screens/person/Documents.tsx';
import { Hubspot } from '../screens/person/Hubspot.tsx';
import { Letters } from '../screens/person/Letters.tsx';
import { loadPerson, mustLoadPerson } from '../screens/person/loadPerson.ts';
import { Overview } from '../screens/person/Overview.tsx';
import { Person } from '../screens/person/Person.tsx';
import { Story } from '../screens/person/Story.tsx';
import { loadToday } from '../screens/today/loadToday.ts';
import { Today } from '../screens/today/Today.tsx';
import { Layout } from './Layout.tsx';

// The first load includes only Today and the pages about people, signing in and passkeys. Other pages are loaded when they are
// first opened.
const invitations = async () =>
  (await import(/* webpackChunkName: "invitations" */ '../screens/invitations/routes.ts')).routes;
const numbers = async () =>
  (await import(/* webpackChunkName: "numbers" */ '../screens/numbers/routes.ts')).routes;
const parcels = async () =>
  (await import(/* webpackChunkName: "parcels" */ '../screens/parcels/routes.ts')).routes;
const staff = async () => (await import(/* webpackChunkName: "staff" */ '../screens/staff/routes.ts')).routes;
const transcript = async () =>
  (await import(/* webpackChunkName: "transcript" */ '../screens/transcript/routes.ts')).routes;
const transcripts = async () =>
  (await import(/* webpackChunkName: "transcripts" */ '../screens/transcripts/routes.ts')).routes;

const routes: RouteObject[] = [
  { path: '/enter', Component: Enter },
  {
    Component: Layout,
    loader: learnMe,
    // Need not load again, because only signing in and out changes who is signed in, and both update `me` themselves.
    shouldRevalidate: () => false,
    ErrorBoundary: PageFailed,
    HydrateFallback: () => <Layout isFirst />,
    children: [
      {
        // This route has no path. It places the error boundary inside the layout, so that the header stays visible when a page
        // fails.
        ErrorBoundary: PageFailed,
        children: [
          { path: '/', loader: loadToday, Component: Today },
          { path: '/transcripts', lazy: async () => (await transcripts()).decide },
          { path: '/transcripts/overdue', lazy: async () => (await transcripts()).overdue },
          { path: '/transcripts/decided', lazy: async () => (await transcripts()).decided },
          { path: '/transcripts/:id/:join', lazy: async () => (await transcript()).transcript },
          { path: '/people', loader: searchPeople, Component: People },
          {
            path: '/people/:id',
            loader: loadPerson,
            shouldRevalidate: mustLoadPerson,
            Component: Person,
            children: [
              { index: true, Component: Overview },
              { path: 'story', Component: Story },
              { path: 'letters', Component: Letters },
              { path: 'documents', Component: Documents },
              { path: 'hubspot', Component: Hubspot },
              {
                path: 'correct',
                loader: loadCorrectable,
                // Loaded separately, because it includes the list of all countries.
                lazy: () => import('../screens/person/correct/Correct.tsx'),
              },
            ],
          },
          { path: '/invitations', lazy: async () => (await invitations()).list },
          { path: '/invitations/upload', lazy: async () => (await invitations()).upload },
          { path: '/invitations/make', lazy: async () => (await invitations()).make },
          { path: '/invitations/files', lazy: async () => (await invitations()).files },
          { path: '/invitations/files/:id', lazy: async () => (await invitations()).file },
          { path: '/parcels/:tab?', lazy: async () => (await parcels()).parcels },
          { path: '/numbers', lazy: async () => (await numbers()).numbers },
          { path: '/staff', lazy: async () => (await staff()).staff },
          { path: '/passkeys', Component: Passkeys },
          { path: '*', Component: () => <Gone what="page" /> },
        ],
      },
    ],
  },
];

export function createRouter() {
  return createBrowserRouter(routes);
}
