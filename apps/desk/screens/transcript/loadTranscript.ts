import { type LoaderFunctionArgs, replace } from 'react-router';
import type { DeskData } from '#contract/deskSchemas.ts';
import { call } from '../../lib/call.ts';

export type TranscriptData = DeskData<'getTranscript'>;

/** Loads what the judging page shows. Who became another by a merge is at the other's address. */
export async function loadTranscript({ params, request }: LoaderFunctionArgs): Promise<TranscriptData> {
  const named = { id: params.id!, join: params.join! };
  const transcript = await call('getTranscript', { params: named, signal: request.signal });
  if (String(transcript.id) !== named.id) throw replace(addressOf(transcript));
  return transcript;
}

export const addressOf = ({ id, join }: { id: number; join: number }) => `/transcripts/${id}/${join}`;
