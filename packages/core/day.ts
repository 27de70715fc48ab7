const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
];

/**
 * Returns a day (YYYY-MM-DD; any further text is ignored) in words: "November 23, 2026". Does not use the browser's own date
 * formats, because a phone needs a tenth of a second to load their data.
 */
export function dayInWords(day: string): string {
  const [year, month, date] = day.slice(0, 10).split('-').map(Number);
  return `${MONTHS[month! - 1]} ${date}, ${year}`;
}

/** Returns the day (YYYY-MM-DD) that is `days` days after another. */
export function daysLater(day: string, days: number): string {
  return new Date(Date.parse(day.slice(0, 10)) + days * 86_400_000).toISOString().slice(0, 10);
}

export const NO_DAY = 'Please enter a day.';

/** Whether a text is a calendar day (YYYY-MM-DD) of the years 1900 to 2999. Other years are typing errors. */
export function isDay(text: string): boolean {
  if (!/^(19|2\d)\d\d-\d\d-\d\d$/.test(text)) return false;
  const at = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(text);
}
