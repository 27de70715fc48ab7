import type { Outcome } from '#client/failures.ts';
import type { Answered } from '#contract/schemas.ts';
import { fallback } from '#core/sentences.ts';
import { call, outcomeOf, requireSession } from '../../lib/api.ts';

export type Details = Answered<'getMembershipDetails'>;

export function loader(): Promise<Outcome<Details>> {
  const uuid = requireSession();
  return outcomeOf(
    call('getMembershipDetails', { params: { uuid }, loading: true }),
    fallback.getMembershipDetails,
  );
}
