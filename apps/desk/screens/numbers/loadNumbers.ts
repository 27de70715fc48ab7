import type { LoaderFunctionArgs } from 'react-router';
import type { DeskData, DeskQuery } from '#contract/deskSchemas.ts';
import { numberKeys, periodFault } from '#core/funnel.ts';
import { hasRightsOf } from '#core/staff.ts';
import { call } from '../../lib/call.ts';
import { lastMe } from '../../lib/me.ts';
import { dayIn } from '../../lib/times.ts';
import { monthsBefore, thisMonth, today } from './periods.ts';

/** How many months of ledgers can be chosen. */
const MONTHS = 24;

export type Asked = DeskQuery<'getNumbers'>;
export type Numbers = DeskData<'getNumbers'>;
export type Ledger = DeskData<'getLedger'>['ledger'];
export type Nights = DeskData<'getReconciliations'>['nights'];

export interface MoneyData {
  months: { value: string; label: string }[];
  /** The month that is shown. */
  month: string;
  ledger: Ledger;
  nights: Nights;
}

export interface NumbersData {
  asked: Asked;
  /** Null if the numbers of the period cannot be counted; `fault` then says why. */
  numbers: Numbers | null;
  fault: string | null;
  /** Null if the user's role may not see it. */
  money: MoneyData | null;
}

/**
 * Loads the numbers of the period in the URL, and the money of the month in the URL. Without these parameters, loads those of the
 * present month.
 */
export async function loadNumbers({ request }: LoaderFunctionArgs): Promise<NumbersData> {
  const me = await lastMe();
  const day = today(me?.timeZone ?? 'UTC');
  const query = new URL(request.url).searchParams;
  const current = thisMonth(day);
  const asked: Asked = {
    from: dayIn(query.get('from')) ?? current.from,
    to: dayIn(query.get('to')) ?? current.to,
    by: numberKeys.find((key) => key === query.get('by')) ?? 'day',
  };
  const { signal } = request;
  const fault = periodFault(asked);
  const [numbers, money] = await Promise.all([
    fault === null ? call('getNumbers', { query: asked, signal }) : null,
    me && hasRightsOf(me.role, 'finance') ? loadMoney(day, query.get('month'), signal) : null,
  ]);
  return { asked, numbers, fault, money };
}

async function loadMoney(day: string, given: string | null, signal: AbortSignal): Promise<MoneyData> {
  const months = monthsBefore(day, MONTHS);
  const month = months.find(({ value }) => value === given)?.value ?? months[0]!.value;
  const [{ ledger }, { nights }] = await Promise.all([
    call('getLedger', { query: { month }, signal }),
    call('getReconciliations', { signal }),
  ]);
  return { months, month, ledger, nights };
}
