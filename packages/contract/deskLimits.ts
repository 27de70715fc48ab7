/** How much the desk takes at once. The browser loads this file, so it imports no schema library. */

/** How many goods can be marked as sent, or members reminded. */
export const MOST_MARKED = 200;
/** Above this many codes one types their number. */
export const MOST_UNTYPED = 100;
/** The largest file of invitations, in bytes. */
export const MOST_FILE_BYTES = 100_000_000;
/** How many codes can be made at once without a file. */
export const MOST_MADE = 100_000;
