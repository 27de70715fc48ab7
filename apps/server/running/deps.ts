import type { Deps as DocumentDeps } from '../documents/deps.ts';

/**
 * What `running` depends on. Its question: does this installation work? Doctor, setup, backup, metrics, and reports of browsers.
 */
export interface Deps extends DocumentDeps {
  /** Whether a token proves that the caller is the operator command `doctor` of this installation. */
  isDoctor(token: string): boolean;
}
