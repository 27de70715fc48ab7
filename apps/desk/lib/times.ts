import { isDay } from '#core/day.ts';

/** Returns a time as words in a time zone: "Nov 3, 2026, 2:05 PM". `time` is an ISO date and time. */
export function timeWords(time: string, timeZone: string): string {
  return new Intl.DateTimeFormat('en-US', { timeZone, dateStyle: 'medium', timeStyle: 'short' }).format(
    new Date(time),
  );
}

/** Returns the day of a time as words in a time zone: "Nov 3, 2026". */
export function dayWords(time: string, timeZone: string): string {
  return new Intl.DateTimeFormat('en-US', { timeZone, dateStyle: 'medium' }).format(new Date(time));
}

/** Returns the text of a URL parameter if it is a day; null otherwise. */
export function dayIn(text: string | null): string | null {
  return text !== null && isDay(text) ? text : null;
}
