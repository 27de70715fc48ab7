import { floorSteps } from './floor.ts';
import type { Step } from './flow.ts';
import { addressOf, type OurSettings, ourSteps } from './ours.ts';

/** Which flow with which settings: plain data, so that it can be sent to the load generator's process. */
export type FlowSettings = { server: 'floor' } | ({ server: 'ours' } & OurSettings);

export function stepsOf(flow: FlowSettings): Step[] {
  return flow.server === 'floor' ? floorSteps() : ourSteps(flow);
}

/** Where a joiner is seen to come from; undefined where the server does not look. */
export function seenFrom(flow: FlowSettings, number: number): string | undefined {
  return flow.server === 'floor' ? undefined : addressOf(number);
}

/** The calls that speak to no provider: the first eight of either flow. */
export const withoutProvider = [
  'eligibility',
  'initiate',
  'contact',
  'details',
  'memberships',
  'membership',
  'checkout',
  'product',
];

/** All calls of a join, and the card; the floor has neither `begin` nor `card`. */
export const everyStep = [...withoutProvider, 'intent', 'begin', 'card', 'return'];
