export const NO_DAY = 'Please enter a day.';

/** Whether a text is a day of the calendar (YYYY-MM-DD), of the years 1900 to 2999: others are slips of a key. */
export function isDay(text: string): boolean {
  if (!/^(19|2\d)\d\d-\d\d-\d\d$/.test(text)) return false;
  const at = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(text);
}
