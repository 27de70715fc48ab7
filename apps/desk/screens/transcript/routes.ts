import { loadTranscript } from './loadTranscript.ts';
import { Transcript } from './Transcript.tsx';

/** The judging page, which is loaded when it is opened. */
export const routes = { transcript: { loader: loadTranscript, Component: Transcript } };
