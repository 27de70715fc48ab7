import type { Deps as LetterDeps } from '../letters/deps.ts';
import type { Printer } from './printer.ts';

/**
 * What `membership` depends on. Its question: what does a member get? Certificate, press release, verification, goods that are
 * sent.
 */
export interface Deps extends LetterDeps {
  /** Makes certificates and press releases in a worker thread. */
  printer: Printer;
}
