import type { LoaderFunctionArgs } from 'react-router';
import type { DeskData, DeskQuery } from '#contract/deskSchemas.ts';
import { numberKeys } from '#core/funnel.ts';
import { hasRightsOf } from '#core/staff.ts';
import { call } from '../../lib/call.ts';
import { lastMe } from '../../lib/me.ts';
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
  numbers: Numbers;
  /** Null for whoever may not see it. */
  money: MoneyData | null;
}

/** Loads the numbers of the period and the money of the month in the address; without them, of this month. */
export async function loadNumbers({ request }: LoaderFunctionArgs): Promise<NumbersData> {
  const me = await lastMe();
  const day = today(me?.timeZone ?? 'UTC');
  const query = new URL(request.url).searchParams;
  const current = thisMonth(day);
  const asked: Asked = {
    from: query.get('from') || current.from,
    to: query.get('to') || current.to,
    by: numberKeys.find((key) => key === query.get('by')) ?? 'day',
  };
  const { signal } = request;
  const [numbers, money] = await Promise.all([
    call('getNumbers', { query: asked, signal }),
    me && hasRightsOf(me.role, 'finance') ? loadMoney(day, query.get('month'), signal) : null,
  ]);
  return { asked, numbers, money };
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
