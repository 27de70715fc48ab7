import { loadTranscripts } from './loadTranscripts.ts';
import { Transcripts } from './Transcripts.tsx';

/** The lists of Transcripts, which are loaded when the first of them is opened. */
export const routes = {
  decide: { loader: loadTranscripts('decide'), Component: Transcripts },
  overdue: { loader: loadTranscripts('overdue'), Component: Transcripts },
  decided: { loader: loadTranscripts('decided'), Component: Transcripts },
};
