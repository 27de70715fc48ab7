import type { LoaderFunctionArgs } from 'react-router';
import type { DeskData, DeskQuery } from '#contract/deskSchemas.ts';
import { call } from '../../lib/call.ts';

type Queue = DeskQuery<'getWaiting'>['queue'];
/** What is looked for: a text, or whose something waits. */
type Asked = { text: string; queue: null } | { text: null; queue: Queue };
export type Found = DeskData<'searchPeople'> & { asked: Asked };

const queues: readonly Queue[] = ['letters', 'hubspot', 'refunds'];

/** Searches for what the address says. Null: it says nothing. */
export async function searchPeople({ request }: LoaderFunctionArgs): Promise<Found | null> {
  const query = new URL(request.url).searchParams;
  const text = query.get('text')?.trim().slice(0, 200) ?? '';
  const queue = queues.find((each) => each === query.get('queue'));
  const asked: Asked | null = text !== '' ? { text, queue: null } : queue ? { text: null, queue } : null;
  return asked && { ...(await findPeople(asked, undefined, request.signal)), asked };
}

/** Asks for one page of people. */
export function findPeople(
  { text, queue }: Asked,
  next?: string,
  signal?: AbortSignal,
): Promise<DeskData<'searchPeople'>> {
  const more = { ...(next !== undefined && { next }) };
  const given = { ...(signal && { signal }) };
  return queue === null
    ? call('searchPeople', { body: { text, ...more }, ...given })
    : call('getWaiting', { query: { queue, ...more }, ...given });
}
