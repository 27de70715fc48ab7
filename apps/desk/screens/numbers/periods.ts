/** A period from one day to another, both included. Days are ISO days: "2026-11-03". */
export interface Period {
  from: string;
  to: string;
}

/** Returns today's day in a time zone. */
export function today(timeZone: string, now = new Date()): string {
  return new Intl.DateTimeFormat('en-CA', { timeZone }).format(now);
}

export function thisMonth(day: string): Period {
  return monthOf(Number(day.slice(0, 4)), Number(day.slice(5, 7)));
}

export function lastMonth(day: string): Period {
  return monthOf(Number(day.slice(0, 4)), Number(day.slice(5, 7)) - 1);
}

export function thisYear(day: string): Period {
  const year = day.slice(0, 4);
  return { from: `${year}-01-01`, to: `${year}-12-31` };
}

/** Returns a month as the period from its first to its last day. Month 0 is December of the year before. */
function monthOf(year: number, month: number): Period {
  const iso = (date: number) => new Date(date).toISOString().slice(0, 10);
  return { from: iso(Date.UTC(year, month - 1, 1)), to: iso(Date.UTC(year, month, 0)) };
}

/** Returns all days of a period. */
export function daysOf({ from, to }: Period): string[] {
  const days: string[] = [];
  for (let at = Date.parse(from); at <= Date.parse(to); at += 86_400_000)
    days.push(new Date(at).toISOString().slice(0, 10));
  return days;
}

/** Returns a day as words: "Nov 3, 2026". */
export function wordsOfDay(day: string): string {
  return new Intl.DateTimeFormat('en-US', { timeZone: 'UTC', dateStyle: 'medium' }).format(new Date(day));
}

/** Returns the last `count` months up to the month of a day, the newest first: `2026-11`, "November 2026". */
export function monthsBefore(day: string, count: number): { value: string; label: string }[] {
  const words = new Intl.DateTimeFormat('en-US', { timeZone: 'UTC', month: 'long', year: 'numeric' });
  return Array.from({ length: count }, (_, back) => {
    const first = new Date(Date.UTC(Number(day.slice(0, 4)), Number(day.slice(5, 7)) - 1 - back, 1));
    return { value: first.toISOString().slice(0, 7), label: words.format(first) };
  });
}
