import { useMe } from '../lib/me.ts';
import { dayWords, timeWords } from '../lib/times.ts';

/** A time in the society's time zone. With `day`, only the day is shown. */
export function Time({ at, day = false }: { at: string; day?: boolean }) {
  const { timeZone } = useMe();
  return <time dateTime={at}>{day ? dayWords(at, timeZone) : timeWords(at, timeZone)}</time>;
}
