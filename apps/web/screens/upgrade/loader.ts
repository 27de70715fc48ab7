import { type LoaderFunctionArgs, replace } from 'react-router';
import type { Data } from '#contract/schemas.ts';
import { linkQuery } from '#core/linkQuery.ts';
import { screens } from '#core/navigation.ts';
import { fallback } from '#core/sentences.ts';
import { loadCleaner } from '../../components/Purified.tsx';
import { call, type Outcome, outcomeOf, requireSession } from '../../lib/api.ts';

type Answer = Data<'getUpgradeDetails'>;
/**
 * The details of an upgrade as the specification has them. A server that has only the specification's calls may leave out
 * `refundNote`, `card` and `goOn`.
 */
type Specified = Omit<Answer, 'card' | 'refundNote' | 'goOn'> & Partial<Answer>;

/** The details of an upgrade that this session may buy. */
export type Offered = Specified &
  Pick<Answer, 'card' | 'goOn'> & { upgradeOption: NonNullable<Answer['upgradeOption']> };

/** Loads the upgrade offer. Redirects if there is no offer for this session (specification, section 4). */
export async function loader({
  request,
}: LoaderFunctionArgs): Promise<{ paymentIntent: string | null; offered: Outcome<Offered> }> {
  const uuid = requireSession();
  const paymentIntent = linkQuery(request.url).get('payment_intent');
  // The sanitizer is loaded at the same time, because the upgrade's features are HTML.
  const [outcome] = await Promise.all([
    outcomeOf<Specified>(
      call('getUpgradeDetails', { params: { uuid }, loading: true }),
      fallback.getUpgradeDetails,
    ),
    loadCleaner(),
  ]);
  if (!('data' in outcome)) return { paymentIntent, offered: outcome };
  const { data: details } = outcome;
  const { upgradeOption, isEligibleForUpgrade, isSelfNomination, card = null } = details;
  const goOn = details.goOn ?? (isSelfNomination ? screens.uploadTranscript : screens.congratulations);
  if (!isEligibleForUpgrade || !upgradeOption) throw replace(goOn);
  return { paymentIntent, offered: { data: { ...details, goOn, card, upgradeOption } } };
}
