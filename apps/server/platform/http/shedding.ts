import underPressure from '@fastify/under-pressure';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type CallName, calls } from '#contract/calls.ts';
import { screens } from '#core/navigation.ts';
import type { Config } from '../config/config.ts';
import type { SheddingLimits } from '../config/watch.ts';
import { requestsShed } from '../metrics.ts';
import { comeBackPage, isForPrograms } from './comeBack.ts';
import { referenceOf } from './errors.ts';
import { Refusal } from './refusal.ts';
import { templateOf } from './routes.ts';

export const BUSY = 'We are very busy right now. Please wait a moment and try again.';

/**
 * The priorities of calls. `from` is the load at which calls are refused, as a multiple of the limits. `retryAfter` is the
 * minimum of the Retry-After header (s).
 */
const priorities = {
  new: { from: 1, retryAfter: 10 },
  joining: { from: 1.25, retryAfter: 5 },
  paying: { from: 1.5, retryAfter: 2 },
} as const;
type Priority = keyof typeof priorities;

const ofCalls: Partial<Record<CallName, Priority>> = {
  checkEligibility: 'new',
  checkInvitation: 'new',
  initiateJoin: 'new',
  initiateSchoolJoin: 'new',
  initiateSelfNomination: 'new',
  initJoin: 'new',
  initiateCheckout: 'new',
  uploadTranscript: 'new',
  uploadByLink: 'new',
  uploadResume: 'new',
  getPressRelease: 'new',
  verifyNumber: 'new',
  sendPassLinks: 'new',
  createPaymentIntent: 'paying',
  beginPayment: 'paying',
  releasePayment: 'paying',
  beginPayPage: 'paying',
  reportPayPage: 'paying',
  postPayment: 'paying',
  getUpgradeDetails: 'paying',
  createUpgradeCharge: 'paying',
  skipUpgrade: 'paying',
};

/**
 * The priorities by route template; null means that the route is never refused. On a route that is not listed, API calls have
 * `joining` and pages have `new`.
 */
const ofRoutes: Record<string, Priority | null> = {
  ...Object.fromEntries(
    (Object.keys(calls) as CallName[]).map((name) => [templateOf(name), ofCalls[name] ?? 'joining']),
  ),
  '/api/webhooks/stripe': 'paying',
  // The page of a paying joiner needs these files, which cost little to serve.
  '/static/*': 'paying',
  [screens.postPayment]: 'paying',
  [screens.upgrade]: 'paying',
  [screens.congratulations]: 'joining',
  [screens.studentDetails]: 'joining',
  [screens.membership]: 'joining',
  [screens.checkout]: 'joining',
  '/healthz': null,
  '/readyz': null,
  '/api/health': null,
};

/** The interval of the measurements (ms): long enough that the mean delay of a sample does not show a single busy moment. */
const SAMPLE_MS = 1_500;

/** The measurements of `@fastify/under-pressure`. Delays are in milliseconds. */
export type Measured = Record<'eventLoopDelay' | 'heapUsed' | 'rssBytes', number>;

/**
 * Refuses calls before the process runs out of memory or its event loop stalls: first new joins and uploads, then joins in
 * progress, and last the calls of paying joiners (docs/run.md, "Too much load"). Must be registered after the hooks that set
 * headers, so that refusals have these headers, too. With `measured`, which only tests pass, uses these values instead of
 * measuring.
 */
export async function shedLoad(
  app: FastifyInstance,
  { shedding }: Pick<Config, 'shedding'>,
  societyName: string,
  measured?: () => Measured,
): Promise<{ isOverloaded(): boolean }> {
  if (!measured) await app.register(underPressure, { sampleInterval: SAMPLE_MS });
  const measure = measured ?? (() => app.memoryUsage());
  const level = () => levelOf(measure(), shedding);
  app.addHook('onRequest', (request, reply, done) => {
    const priority = priorityOf(request);
    const now = level();
    if (priority === null || now < priorities[priority].from) return done();
    requestsShed.inc({ priority });
    request.log.warn({ priority, level: Math.round(now * 100) / 100 }, 'refused: there is too much to do');
    const least = priorities[priority].retryAfter;
    // The delay is random, so that callers do not all retry at the same moment.
    const seconds = least + Math.floor(Math.random() * (least + 1));
    if (isForPrograms(request.url)) return done(new Refusal(503, BUSY, { retryAfter: seconds }));
    const reference = referenceOf(request.id);
    void reply
      .status(503)
      .headers({ 'retry-after': String(seconds), 'cache-control': 'no-store' })
      .type('text/html; charset=utf-8')
      .send(comeBackPage({ societyName, sentence: BUSY, reference, seconds }));
  });
  return { isOverloaded: () => level() >= priorities.paying.from };
}

function priorityOf({ url, routeOptions: { url: route } }: FastifyRequest): Priority | null {
  const priority = route === undefined ? undefined : ofRoutes[route];
  return priority === undefined ? (isForPrograms(url) ? 'joining' : 'new') : priority;
}

/**
 * Returns the load as a multiple of the limits: the highest of the three ratios. A limit of 0 is ignored. At 1 or more, the process
 * is overloaded.
 */
export function levelOf({ eventLoopDelay, heapUsed, rssBytes }: Measured, limits: SheddingLimits): number {
  const part = (value: number, limit: number) => (limit > 0 ? value / limit : 0);
  return Math.max(
    part(eventLoopDelay, limits.eventLoopDelayMs),
    part(heapUsed, limits.heapBytes),
    part(rssBytes, limits.rssBytes),
  );
}
