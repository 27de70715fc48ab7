import { createBrowserRouter, type RouteObject } from 'react-router';
import { PageFailed } from '../components/Failed.tsx';
import { Gone } from '../components/Gone.tsx';
import { learnMe } from '../lib/me.ts';
import { Enter } from '../screens/enter/Enter.tsx';
import { loadNumbers } from '../screens/numbers/loadNumbers.ts';
import { Numbers } from '../screens/numbers/Numbers.tsx';
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
import { loadStaff } from '../screens/staff/loadStaff.ts';
import { Staff } from '../screens/staff/Staff.tsx';
import { loadToday } from '../screens/today/loadToday.ts';
import { Today } from '../screens/today/Today.tsx';
import { loadTranscript } from '../screens/transcript/loadTranscript.ts';
import { Transcript } from '../screens/transcript/Transcript.tsx';
import { loadTranscripts } from '../screens/transcripts/loadTranscripts.ts';
import { Transcripts } from '../screens/transcripts/Transcripts.tsx';
import { Layout } from './Layout.tsx';

/** The pages of Invitations and Parcels are no part of the first load. */
const invitations = async () =>
  (await import(/* webpackChunkName: "invitations" */ '../screens/invitations/routes.ts')).routes;
const parcels = async () =>
  (await import(/* webpackChunkName: "parcels" */ '../screens/parcels/routes.ts')).routes;

const routes: RouteObject[] = [
  { path: '/enter', Component: Enter },
  {
    Component: Layout,
    loader: learnMe,
    // Who is signed in changes only by signing in and out, which say so themselves.
    shouldRevalidate: () => false,
    ErrorBoundary: PageFailed,
    HydrateFallback: () => <Layout isFirst />,
    children: [
      {
        // This route has no path. It places the error boundary inside of the layout, so that the header stays when a page fails.
        ErrorBoundary: PageFailed,
        children: [
          { path: '/', loader: loadToday, Component: Today },
          { path: '/transcripts', loader: loadTranscripts('decide'), Component: Transcripts },
          { path: '/transcripts/overdue', loader: loadTranscripts('overdue'), Component: Transcripts },
          { path: '/transcripts/decided', loader: loadTranscripts('decided'), Component: Transcripts },
          { path: '/transcripts/:id/:join', loader: loadTranscript, Component: Transcript },
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
                // It comes with all countries.
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
          { path: '/numbers', loader: loadNumbers, Component: Numbers },
          { path: '/staff', loader: loadStaff, Component: Staff },
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
