import type { LoaderFunctionArgs, ShouldRevalidateFunctionArgs } from 'react-router';
import type { DeskData, DeskQuery } from '#contract/deskSchemas.ts';
import { numberKeys } from '#core/funnel.ts';
import { call } from '../../lib/call.ts';
import { lastMe } from '../../lib/me.ts';
import { thisMonth, today } from './periods.ts';

export type Asked = DeskQuery<'getNumbers'>;
export type Numbers = DeskData<'getNumbers'>;
export interface NumbersData {
  asked: Asked;
  numbers: Numbers;
}

/** Loads the numbers of the period in the address; without one, of this month. */
export async function loadNumbers({ request }: LoaderFunctionArgs): Promise<NumbersData> {
  const timeZone = (await lastMe())?.timeZone ?? 'UTC';
  const query = new URL(request.url).searchParams;
  const month = thisMonth(today(timeZone));
  const asked: Asked = {
    from: query.get('from') || month.from,
    to: query.get('to') || month.to,
    by: numberKeys.find((key) => key === query.get('by')) ?? 'day',
  };
  return { asked, numbers: await call('getNumbers', { query: asked, signal: request.signal }) };
}

/** The month of the ledger in the address changes nothing of the joins. */
export function mustLoadNumbers({
  currentUrl,
  nextUrl,
  defaultShouldRevalidate,
}: ShouldRevalidateFunctionArgs): boolean {
  const without = ({ searchParams }: URL) => {
    const others = new URLSearchParams(searchParams);
    others.delete('month');
    return String(others);
  };
  const isMonth = currentUrl.search !== nextUrl.search && without(currentUrl) === without(nextUrl);
  return !isMonth && defaultShouldRevalidate;
}
