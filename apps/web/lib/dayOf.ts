/** Returns the day of a time in the society's time zone, as in letters and on certificates: "November 23, 2026". */
export function dayOf(time: string | number, timeZone: string): string {
  return new Date(time).toLocaleDateString('en-US', { dateStyle: 'long', timeZone });
}
