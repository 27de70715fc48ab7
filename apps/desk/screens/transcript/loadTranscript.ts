import { type LoaderFunctionArgs, replace } from 'react-router';
import type { DeskData } from '#contract/deskSchemas.ts';
import { call } from '../../lib/call.ts';

export type TranscriptData = DeskData<'getTranscript'>;

/** Loads the data of the review page. If the person was merged into another, redirects to the other's page. */
export async function loadTranscript({ params, request }: LoaderFunctionArgs): Promise<TranscriptData> {
  const named = { id: params.id!, join: params.join! };
  const transcript = await call('getTranscript', { params: named, signal: request.signal });
  if (String(transcript.id) !== named.id) throw replace(addressOf(transcript));
  return transcript;
}

export const addressOf = ({ id, join }: { id: number; join: number }) => `/transcripts/${id}/${join}`;
