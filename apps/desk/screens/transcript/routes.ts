import { loadTranscript } from './loadTranscript.ts';
import { Transcript } from './Transcript.tsx';

/** The review page, which is loaded when it is first opened. */
export const routes = { transcript: { loader: loadTranscript, Component: Transcript } };
