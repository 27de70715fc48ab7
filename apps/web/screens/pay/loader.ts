import type { LoaderFunctionArgs } from 'react-router';
import type { Outcome } from '#client/failures.ts';
import type { Answered } from '#contract/schemas.ts';
import { LINK_NOT_OPENED } from '#core/sentences.ts';
import { call, outcomeOf } from '../../lib/api.ts';
import { loadPayments } from '../../lib/payments.ts';
import { payReturn, payTry } from '../../lib/session.ts';
import { theSite } from '../../lib/site.ts';
import { takeReturn } from '../../lib/takeReturn.ts';
import { type Ended, settle } from './pay.ts';

export type PayPage = Answered<'getPayPage'>;
export type PayOrder = NonNullable<PayPage['order']>;

/** Loads what is to be paid, and how a payment ended from which the card provider leads back. */
export async function loader({
  params,
  request,
}: LoaderFunctionArgs): Promise<{ page: Outcome<PayPage>; ended: Ended | null }> {
  loadPayments(theSite().payments).catch(() => {
    // If the script does not load, the payment form shows this and offers to try again.
  });
  const token = params.token ?? '';
  const last = payTry.recall();
  // This tab has begun to pay by another link, so what it has kept is not of this one.
  if (last && last.token !== token) payReturn.drop();
  const returned = takeReturn(request, payReturn);
  const ended = returned && (await settle(returned, null));
  const page = await outcomeOf(call('getPayPage', { params: { token }, quiet: true }), LINK_NOT_OPENED);
  return { page, ended };
}
