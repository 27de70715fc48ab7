/** The messages between the page and the frame that shows a document. The document may forge the frame's messages. */

/** How a page of the document is to be shown. */
export interface Look {
  /** The page's number, counted from 1. */
  page: number;
  /** The width (CSS px). */
  width: number;
  /** The clockwise rotation in degrees. */
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
