/** What the numbers of a period are told apart by. */
export const numberKeys = ['day', 'programme', 'school', 'campaign'] as const;
export type NumberKey = (typeof numberKeys)[number];

/** How far people came, step by step. */
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
 * How many were invited in a period, and how far the joins came that began in it. Up to `paid`, whoever came to a step is counted at
 * each step before.
 */
export type Funnel = Record<FunnelStep, number>;

/** The step of which a step has a share: those who were asked, or could. */
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
