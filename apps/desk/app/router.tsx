import { createBrowserRouter, type RouteObject } from 'react-router';
import { PageFailed } from '../components/Failed.tsx';
import { Gone } from '../components/Gone.tsx';
import { learnMe } from '../lib/me.ts';
import { Enter } from '../screens/enter/Enter.tsx';
import { ImportPage } from '../screens/invitations/ImportPage.tsx';
import { Invitations } from '../screens/invitations/Invitations.tsx';
import { LatestFiles, loadFiles } from '../screens/invitations/LatestFiles.tsx';
import { loadImport } from '../screens/invitations/loadImport.ts';
import { loadInvitations, loadProgrammes } from '../screens/invitations/loadInvitations.ts';
import { MakeCodes } from '../screens/invitations/MakeCodes.tsx';
import { Upload } from '../screens/invitations/Upload.tsx';
import { loadNumbers } from '../screens/numbers/loadNumbers.ts';
import { Numbers } from '../screens/numbers/Numbers.tsx';
import { loadParcels } from '../screens/parcels/loadParcels.ts';
import { Parcels } from '../screens/parcels/Parcels.tsx';
import { Passkeys } from '../screens/passkeys/Passkeys.tsx';
import { People } from '../screens/people/People.tsx';
import { searchPeople } from '../screens/people/searchPeople.ts';
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
            ],
          },
          { path: '/invitations', loader: loadInvitations, Component: Invitations },
          { path: '/invitations/upload', Component: Upload },
          { path: '/invitations/make', loader: loadProgrammes, Component: MakeCodes },
          { path: '/invitations/files', loader: loadFiles, Component: LatestFiles },
          { path: '/invitations/files/:id', loader: loadImport, Component: ImportPage },
          { path: '/parcels/:tab?', loader: loadParcels, Component: Parcels },
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
