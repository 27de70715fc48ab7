/** What the page and the frame of a document tell each other. What the frame says may be forged by the document. */

/** How one page is to be shown. */
export interface Look {
  /** Counted from 1. */
  page: number;
  /** The width (CSS px). */
  width: number;
  /** Clockwise, in degrees. */
  rotation: 0 | 90 | 180 | 270;
}

export type ToFrame =
  | { kind: 'open'; as: 'pdf' | 'picture'; bytes: ArrayBuffer }
  | { kind: 'show'; look: Look };

export type FromFrame =
  | { kind: 'ready' }
  | { kind: 'opened'; pages: number }
  /** `height` in CSS px. `isWhole` is false if some of the page's pictures cannot be shown. */
  | { kind: 'shown'; height: number; isWhole: boolean }
  | { kind: 'failed' };
