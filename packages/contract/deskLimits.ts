/** How much the desk takes at once. The browser loads this file, so it imports no schema library. */

/** How many goods can be marked as sent, or members reminded. */
export const MOST_MARKED = 200;
/** Above this many codes one types their number. */
export const MOST_UNTYPED = 100;
