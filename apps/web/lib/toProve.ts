import type { Data } from '#contract/schemas.ts';
import { call } from './api.ts';

/** A pass with which the page's user can prove to be the joiner, and how. */
export interface ToProve {
  token: string;
  opened: Data<'openPass'>;
}

/** Adds to an answer what the user can prove with its `pass`; null if the answer has none. */
export async function withProof<Answer extends { pass?: string | null | undefined }>(
  answering: Promise<Answer>,
): Promise<Answer & { toProve: ToProve | null }> {
  const answer = await answering;
  const { pass: token } = answer;
  const toProve = token ? { token, opened: await call('openPass', { body: { token }, quiet: true }) } : null;
  return { ...answer, toProve };
}
