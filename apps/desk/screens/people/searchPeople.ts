import type { LoaderFunctionArgs } from 'react-router';
import type { DeskData, DeskQuery } from '#contract/deskSchemas.ts';
import { call } from '../../lib/call.ts';

type Queue = DeskQuery<'getWaiting'>['queue'];
/** The search: for a text, or for the persons in a queue. */
type Asked = { text: string; queue: null } | { text: null; queue: Queue };
export type Found = DeskData<'searchPeople'> & { asked: Asked };

/** All queues. The type ensures that none is missing. */
const queues: Record<Queue, true> = { letters: true, hubspot: true, refunds: true, refundsAsked: true };

/** Runs the search in the URL. Null if the URL has none. */
export async function searchPeople({ request }: LoaderFunctionArgs): Promise<Found | null> {
  const query = new URL(request.url).searchParams;
  const text = query.get('text')?.trim().slice(0, 200) ?? '';
  const queue = (Object.keys(queues) as Queue[]).find((each) => each === query.get('queue'));
  const asked: Asked | null = text !== '' ? { text, queue: null } : queue ? { text: null, queue } : null;
  return asked && { ...(await findPeople(asked, {}, request.signal)), asked };
}

/** Requests one page of persons. */
export function findPeople(
  { text, queue }: Asked,
  more: { next?: string },
  signal?: AbortSignal,
): Promise<DeskData<'searchPeople'>> {
  const given = { ...(signal && { signal }) };
  return queue === null
    ? call('searchPeople', { body: { text, ...more }, ...given })
    : call('getWaiting', { query: { queue, ...more }, ...given });
}

/** Searches for a text after asking HubSpot, which may have contacts that have not been read yet. */
export function findAtHubspot(text: string, signal: AbortSignal): Promise<DeskData<'searchPeople'>> {
  return call('searchPeople', { body: { text, atHubspot: true }, signal });
}
