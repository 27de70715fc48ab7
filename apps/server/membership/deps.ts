import type { Deps as LetterDeps } from '../letters/deps.ts';
import type { Printer } from './printer.ts';

export interface Deps extends LetterDeps {
  /** Makes certificates and press releases in a worker thread. */
  printer: Printer;
}
