import type { LoaderFunctionArgs } from 'react-router';
import type { DeskData, DeskQuery } from '#contract/deskSchemas.ts';
import { call } from '../../lib/call.ts';

type Queue = DeskQuery<'getWaiting'>['queue'];
/** What is looked for: a text, or whose something waits. */
type Asked = { text: string; queue: null } | { text: null; queue: Queue };
export type Found = DeskData<'searchPeople'> & { asked: Asked };

/** Every queue: the type misses none. */
const queues: Record<Queue, true> = { letters: true, hubspot: true, refunds: true, refundsAsked: true };

/** Searches for what the address says. Null: it says nothing. */
export async function searchPeople({ request }: LoaderFunctionArgs): Promise<Found | null> {
  const query = new URL(request.url).searchParams;
  const text = query.get('text')?.trim().slice(0, 200) ?? '';
  const queue = (Object.keys(queues) as Queue[]).find((each) => each === query.get('queue'));
  const asked: Asked | null = text !== '' ? { text, queue: null } : queue ? { text: null, queue } : null;
  return asked && { ...(await findPeople(asked, {}, request.signal)), asked };
}

/** Asks for one page of people. */
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

/** Searches for a text once HubSpot was asked, too: it may have contacts that were not read yet. */
export function findAtHubspot(text: string, signal: AbortSignal): Promise<DeskData<'searchPeople'>> {
  return call('searchPeople', { body: { text, atHubspot: true }, signal });
}
