import type { LoaderFunctionArgs } from 'react-router';
import type { DeskData } from '#contract/deskSchemas.ts';
import { call } from '../../lib/call.ts';

export type Found = DeskData<'searchPeople'> & { text: string };

/** Searches for the text of the address. Null: there is none. */
export async function searchPeople({ request }: LoaderFunctionArgs): Promise<Found | null> {
  const text = new URL(request.url).searchParams.get('text')?.trim().slice(0, 200) ?? '';
  if (text === '') return null;
  return { ...(await call('searchPeople', { body: { text }, signal: request.signal })), text };
}
