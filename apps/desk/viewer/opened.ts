import type { Look } from './messages.ts';

export interface Shown {
  /** In CSS px. */
  height: number;
  /** Whether all pictures of the page are shown. */
  isWhole: boolean;
}

/** An opened document. */
export interface Opened {
  pages: number;
  /** Shows a page in place of the last one. Rejects if that is impossible, or if another page is requested meanwhile. */
  show(look: Look): Promise<Shown>;
}
