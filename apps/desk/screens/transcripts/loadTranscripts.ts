import type { LoaderFunctionArgs } from 'react-router';
import type { DeskData, DeskQuery } from '#contract/deskSchemas.ts';
import { call } from '../../lib/call.ts';

export type Tab = DeskQuery<'getTranscripts'>['tab'];
export type Listed = DeskData<'getTranscripts'> & { tab: Tab };

/** Returns the loader of a tab. */
export const loadTranscripts =
  (tab: Tab) =>
  async ({ request }: LoaderFunctionArgs): Promise<Listed> => ({
    ...(await call('getTranscripts', { query: { tab }, signal: request.signal })),
    tab,
  });
