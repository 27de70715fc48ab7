/** Limits of the desk's calls. The browser loads this file, so it imports no schema library. */

/** How many goods can be marked as sent, or how many members reminded, in one call. */
export const MOST_MARKED = 200;
/** To change more codes than this in one call, staff must type their number. */
export const MOST_UNTYPED = 100;
/** The largest file of invitations, in bytes. */
export const MOST_FILE_BYTES = 100_000_000;
/** How many codes can be generated in one call without a file. */
export const MOST_MADE = 100_000;
