import type { ReactElement } from 'react';
import { InvitationsSkeleton } from '../screens/invitations/InvitationsSkeleton.tsx';
import { NumbersSkeleton } from '../screens/numbers/NumbersSkeleton.tsx';
import { ParcelsSkeleton } from '../screens/parcels/ParcelsSkeleton.tsx';
import { PeopleSkeleton } from '../screens/people/PeopleSkeleton.tsx';
import { PersonSkeleton } from '../screens/person/PersonSkeleton.tsx';
import { StaffSkeleton } from '../screens/staff/StaffSkeleton.tsx';
import { TodaySkeleton } from '../screens/today/TodaySkeleton.tsx';
import { TranscriptSkeleton } from '../screens/transcript/TranscriptSkeleton.tsx';
import { TranscriptsSkeleton } from '../screens/transcripts/TranscriptsSkeleton.tsx';

const isTranscripts = (path: string) => /^\/transcripts(\/[a-z]|$)/.test(path);
const personIn = (path: string) => /^\/people\/(\d+)(\/|$)/.exec(path)?.[1];

/**
 * Returns the skeleton of the page at `path`, for somebody who comes from the page at `from` (null: from none). Returns null if the
 * page at `from` stays visible until the next one has loaded.
 */
export function skeletonAt(path: string, from: string | null): ReactElement | null {
  if (path === '/') return <TodaySkeleton />;
  if (path === '/people') return <PeopleSkeleton />;
  if (path === '/invitations') return <InvitationsSkeleton />;
  if (path.startsWith('/parcels')) return from?.startsWith('/parcels') ? null : <ParcelsSkeleton />;
  if (path === '/numbers') return <NumbersSkeleton />;
  if (path === '/staff') return <StaffSkeleton />;
  if (/^\/transcripts\/\d/.test(path)) return <TranscriptSkeleton />;
  if (isTranscripts(path)) return from !== null && isTranscripts(from) ? null : <TranscriptsSkeleton />;
  const person = personIn(path);
  // The tabs of one person load nothing, so no skeleton is needed between them. Before Correct, which loads, the tab stays
  // visible.
  if (person === undefined || (from !== null && personIn(from) === person)) return null;
  return <PersonSkeleton />;
}
