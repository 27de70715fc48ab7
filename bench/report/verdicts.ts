import type { Spread } from '../accounting/numbers.ts';
import { figure, spread, table } from './table.ts';

/** A target and whether it was reached. */
export interface Verdict {
  what: string;
  target: string;
  measured: string;
  isMet: boolean;
}

export function atMost(what: string, most: number, measured: Spread): Verdict {
  return { what, target: `≤ ${figure(most)}`, measured: spread(measured), isMet: measured.median <= most };
}

export function atLeast(what: string, least: number, measured: Spread): Verdict {
  return { what, target: `≥ ${figure(least)}`, measured: spread(measured), isMet: measured.median >= least };
}

export function verdictTable(verdicts: readonly Verdict[]): string {
  return table(
    ['Target', 'at', 'measured', ''],
    verdicts.map(({ what, target, measured, isMet }) => [
      what,
      target,
      measured,
      isMet ? 'met' : '**missed**',
    ]),
  );
}
