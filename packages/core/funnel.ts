/** The keys by which the numbers of a period can be grouped. */
export const numberKeys = ['day', 'programme', 'school', 'campaign'] as const;
export type NumberKey = (typeof numberKeys)[number];

/** The steps from the invitation to the accepted proof, in order. */
export const funnelSteps = [
  'invited',
  'started',
  'details',
  'membership',
  'paid',
  'upgraded',
  'proofAccepted',
] as const;
export type FunnelStep = (typeof funnelSteps)[number];

/**
 * How many invitations were made in a period, and how many of the joins that began in it reached each step. Up to `paid`, a join
 * that reached a step is also counted at each step before it.
 */
export type Funnel = Record<FunnelStep, number>;

/** For each step, the earlier step whose number is its 100 %: those who could have gone on to it. */
export const stepBefore: Record<FunnelStep, FunnelStep | null> = {
  invited: null,
  started: 'invited',
  details: 'started',
  membership: 'details',
  paid: 'membership',
  upgraded: 'paid',
  proofAccepted: 'paid',
};

const MOST_YEARS = 10;

/** Returns why a period from one ISO day to another cannot be counted; null if it can. */
export function periodFault({ from, to }: { from: string; to: string }): string | null {
  if (from > to) return 'The first day is after the last.';
  return Number(to.slice(0, 4)) - Number(from.slice(0, 4)) > MOST_YEARS
    ? `Please choose ${MOST_YEARS} years at most.`
    : null;
}
