import assert from 'node:assert/strict';
import { test } from 'node:test';
import { joinSessionStates } from './joinSession.ts';
import { personStanding, type StandingFacts } from './personStanding.ts';
import type { MembershipType } from './product.ts';
import type { MembershipStanding } from './refunds.ts';

const nothing: StandingFacts = { bought: [], isMemberAtHubspot: false, join: null, isInvited: false };
const bought = (
  standing: MembershipStanding,
  type: MembershipType = 'membership',
  since = 'May 1, 2026',
) => ({
  type,
  standing,
  since,
});
const upgrade = (standing: MembershipStanding) => bought(standing, 'membership_upgrade', 'May 2, 2026');
const paid = { state: 'paid', startedOn: 'May 1, 2026' } as const;

const table: [facts: Partial<StandingFacts>, sentence: string][] = [
  [{}, 'Not a member.'],
  [{ isInvited: true }, 'Not a member: invited, and has not begun to join.'],
  [
    { isMemberAtHubspot: true, isInvited: true },
    "Member by HubSpot's word alone: no membership was bought here.",
  ],
  [
    { isMemberAtHubspot: true, bought: [upgrade('active')], join: paid },
    "Member by HubSpot's word alone: no membership was bought here, with an upgrade.",
  ],
  [
    { isMemberAtHubspot: true, bought: [bought('refunded')], join: paid },
    "Member by HubSpot's word alone: the membership of May 1, 2026 has ended, since its money went back.",
  ],
  [
    { bought: [bought('refunded'), upgrade('disputed')], join: paid },
    'Not a member, but holds an upgrade since May 2, 2026; a payment is disputed.',
  ],
  [{ bought: [bought('active')], join: paid, isInvited: true }, 'Member since May 1, 2026.'],
  [
    { bought: [bought('active'), upgrade('active')], join: paid },
    'Member since May 1, 2026, with an upgrade.',
  ],
  [{ bought: [bought('active'), upgrade('refunded')], join: paid }, 'Member since May 1, 2026.'],
  [{ bought: [bought('disputed')], join: paid }, 'Member since May 1, 2026; a payment is disputed.'],
  [
    { bought: [bought('active'), upgrade('disputed')], join: paid },
    'Member since May 1, 2026, with an upgrade; a payment is disputed.',
  ],
  [
    { bought: [bought('refunded', 'membership', 'May 3, 2025'), bought('active')], join: paid },
    'Member since May 1, 2026.',
  ],
  [
    { bought: [bought('refunded')], join: paid },
    'Not a member any more: the membership of May 1, 2026 has ended, since its money went back.',
  ],
  [
    { bought: [bought('refunded'), bought('charged_back')], join: paid },
    'Not a member any more: the membership of May 1, 2026 has ended, since a dispute over its money was lost.',
  ],
  [
    { bought: [bought('void')], join: paid },
    'Not a member any more: the membership of May 1, 2026 has ended, since nothing was paid for it.',
  ],
  [
    { bought: [bought('refunded'), upgrade('active')], join: paid },
    'Not a member, but holds an upgrade since May 2, 2026.',
  ],
  [
    { join: { state: 'ordering', startedOn: 'May 4, 2026' }, isInvited: true },
    'Not a member: began to join on May 4, 2026, and has not paid yet.',
  ],
];

for (const [facts, sentence] of table)
  test(`how a person stands: ${sentence} ${JSON.stringify(facts)}`, () => {
    assert.equal(personStanding({ ...nothing, ...facts }), sentence);
  });

test('each state of a join has a sentence of its own', () => {
  const told = joinSessionStates.map((state) =>
    personStanding({ ...nothing, join: { state, startedOn: 'May 4, 2026' } }),
  );
  assert.equal(new Set(told).size, joinSessionStates.length);
});
