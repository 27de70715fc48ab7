import type { LoaderFunctionArgs } from 'react-router';
import type { DeskBody, DeskData } from '#contract/deskSchemas.ts';
import { call } from '../../lib/call.ts';
import { dayIn } from '../../lib/times.ts';

export type Staff = DeskData<'getStaff'>['staff'][number];
export type EventFilter = Omit<DeskBody<'searchEvents'>, 'next'>;
export interface StaffData {
  staff: Staff[];
  events: DeskData<'searchEvents'>;
  filter: EventFilter;
}

/** Loads the members of staff, and what they did, with the filters in the URL. */
export async function loadStaff({ request }: LoaderFunctionArgs): Promise<StaffData> {
  const query = new URL(request.url).searchParams;
  const filter: EventFilter = {};
  for (const name of ['name', 'action', 'day'] as const) {
    const value = name === 'day' ? dayIn(query.get(name)) : query.get(name);
    if (value) filter[name] = value;
  }
  const { signal } = request;
  const [{ staff }, events] = await Promise.all([
    call('getStaff', { signal }),
    call('searchEvents', { body: filter, signal }),
  ]);
  return { staff, events, filter };
}
