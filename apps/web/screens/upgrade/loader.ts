import { type LoaderFunctionArgs, replace } from 'react-router';
import type { Outcome } from '#client/failures.ts';
import type { Answered } from '#contract/schemas.ts';
import { linkQuery } from '#core/linkQuery.ts';
import { screens } from '#core/navigation.ts';
import { fallback } from '#core/sentences.ts';
import { loadCleaner } from '../../components/Purified.tsx';
import { call, outcomeOf, requireSession } from '../../lib/api.ts';

type Answer = Answered<'getUpgradeDetails'>;

/** The details of an upgrade that this session may buy. */
export type Offered = Answer & { upgradeOption: NonNullable<Answer['upgradeOption']>; goOn: string };

/** Loads the upgrade offer. Redirects if there is no offer for this session (specification, section 4). */
export async function loader({
  request,
}: LoaderFunctionArgs): Promise<{ paymentIntent: string | null; offered: Outcome<Offered> }> {
  const uuid = requireSession();
  const paymentIntent = linkQuery(request.url).get('payment_intent');
  // The sanitizer is loaded at the same time, because the upgrade's features are HTML.
  const [outcome] = await Promise.all([
    outcomeOf(call('getUpgradeDetails', { params: { uuid }, loading: true }), fallback.getUpgradeDetails),
    loadCleaner(),
  ]);
  if (!('data' in outcome)) return { paymentIntent, offered: outcome };
  const { data: details } = outcome;
  const { upgradeOption, isEligibleForUpgrade, isSelfNomination } = details;
  const goOn = details.goOn ?? (isSelfNomination ? screens.uploadTranscript : screens.congratulations);
  if (!isEligibleForUpgrade || !upgradeOption) throw replace(goOn);
  return { paymentIntent, offered: { data: { ...details, goOn, upgradeOption } } };
}
