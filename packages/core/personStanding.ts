import type { JoinSessionState } from './joinSession.ts';
import type { MembershipType } from './product.ts';
import { isHeld, type MembershipStanding } from './refunds.ts';

/** The facts that decide a person's standing. Days are formatted for display. */
export interface StandingFacts {
  /** All memberships and upgrades that the person bought, the oldest first. */
  bought: readonly { type: MembershipType; standing: MembershipStanding; since: string }[];
  /** Whether they are a member only according to HubSpot. */
  isMemberAtHubspot: boolean;
  /** The newest join; null if there is none. */
  join: { state: JoinSessionState; startedOn: string } | null;
  /** Whether an invite code leads to them. */
  isInvited: boolean;
}

const ends: Record<Exclude<MembershipStanding, 'active' | 'disputed'>, string> = {
  refunded: 'its money went back',
  charged_back: 'a dispute over its money was lost',
  void: 'nothing was paid for it',
};

const steps: Record<JoinSessionState, string> = {
  started: 'has given no details yet',
  detailed: 'has chosen no membership yet',
  ordering: 'has not paid yet',
  paying: 'is paying now',
  paid: 'has paid',
};

/** Returns, in one sentence for staff, whether a person is a member, and since when or why not. */
export function personStanding({ bought, isMemberAtHubspot, join, isInvited }: StandingFacts): string {
  const held = bought.filter(({ standing }) => isHeld(standing));
  const membership = held.find(({ type }) => type === 'membership');
  const upgrade = held.find(({ type }) => type === 'membership_upgrade');
  const isDisputed = held.some(({ standing }) => standing === 'disputed');
  const disputed = isDisputed ? '; a payment is disputed' : '';
  const more = `${upgrade ? ', with an upgrade' : ''}${disputed}`;
  if (membership) return `Member since ${membership.since}${more}.`;
  const last = bought.findLast(({ type }) => type === 'membership');
  const ended =
    last && `the membership of ${last.since} has ended, since ${ends[last.standing as keyof typeof ends]}`;
  if (isMemberAtHubspot)
    return `Member by HubSpot's word alone: ${ended ?? 'no membership was bought here'}${more}.`;
  if (upgrade) return `Not a member, but holds an upgrade since ${upgrade.since}${disputed}.`;
  if (ended) return `Not a member any more: ${ended}.`;
  if (join) return `Not a member: began to join on ${join.startedOn}, and ${steps[join.state]}.`;
  return isInvited ? 'Not a member: invited, and has not begun to join.' : 'Not a member.';
}
