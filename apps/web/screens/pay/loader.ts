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

/** Loads the order to pay and, after a return from the card provider, the outcome of the payment. */
export async function loader({
  params,
  request,
}: LoaderFunctionArgs): Promise<{ page: Outcome<PayPage>; ended: Ended | null }> {
  loadPayments(theSite().payments).catch(() => {
    // If the script does not load, the payment form shows the error and offers to try again.
  });
  const token = params.token ?? '';
  const last = payTry.recall();
  // The tab's last try was by another link, so the return parameters that it stored do not belong to this link.
  if (last && last.token !== token) payReturn.drop();
  const returned = takeReturn(request, payReturn);
  const ended = returned && (await settle(returned, null));
  const page = await outcomeOf(call('getPayPage', { params: { token }, quiet: true }), LINK_NOT_OPENED);
  return { page, ended };
}
