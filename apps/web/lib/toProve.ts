import type { Data } from '#contract/schemas.ts';
import { call } from './api.ts';

/** A pass by which the page's user can prove to be the joiner, and the ways to do so. */
export interface ToProve {
  token: string;
  opened: Data<'openPass'>;
}

/**
 * Adds to an answer the ways in which the user can prove to be the joiner with the answer's `pass`; null if the answer has no
 * pass.
 */
export async function withProof<Answer extends { pass?: string | null | undefined }>(
  answering: Promise<Answer>,
): Promise<Answer & { toProve: ToProve | null }> {
  const answer = await answering;
  const { pass: token } = answer;
  const toProve = token ? { token, opened: await call('openPass', { body: { token }, quiet: true }) } : null;
  return { ...answer, toProve };
}
