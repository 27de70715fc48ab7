import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type StoryDetail, type StoryEvent, type StoryStep, storyLines, storySteps } from './story.ts';

const event = (step: StoryStep, detail: StoryDetail | null = null, ms = 0): StoryEvent => ({
  at: new Date(ms),
  step,
  cause: 'joiner',
  actor: null,
  detail,
});
const membership = (productId: number, name: string, priceCents: number) =>
  ({ productId, type: 'membership', name, priceCents }) as const;
const pin = { productId: 30, type: 'store', name: 'Lapel Pin', priceCents: 1200 } as const;
const texts = (...events: StoryEvent[]) => storyLines(events).map(({ text }) => text);

test('an order is told by what changed of it', () => {
  const base = membership(1, 'Membership', 6500);
  const order = (ms: number, ...lines: NonNullable<StoryDetail['lines']>) =>
    event('order_changed', { lines }, ms);
  assert.deepEqual(
    texts(
      order(1, base),
      order(2, base, pin),
      order(3, membership(2, 'Premium', 8900), pin),
      order(4, membership(2, 'Premium', 8900)),
      order(5, membership(2, 'Premium', 4000)),
      order(6, membership(2, 'Premium', 4000)),
    ),
    [
      'Order: membership chosen: Membership, $65.00. Total $65.00.',
      'Order: added Lapel Pin, $12.00. Total $77.00.',
      'Order: membership changed from Membership to Premium, $89.00. Total $101.00.',
      'Order: removed Lapel Pin. Total $89.00.',
      'Order: membership changed from Premium to Premium, $40.00. Total $40.00.',
      'Order: as before. Total $40.00.',
    ],
  );
});

test('what one write made is told in the order of its meaning, and writes in the order in which they were made', () => {
  assert.deepEqual(
    texts(
      event('paid', null, 2),
      event('intent_succeeded', { cents: 6500, intent: 'pi_1' }, 2),
      event('started', { origin: 'link', programme: 'p' }, 1),
    ),
    ['$65.00 paid by pi_1.', 'The join is paid.', 'Started by a link, programme p.'],
  );
});

test('every step has a sentence of its own', () => {
  const told = storySteps.map((step) => texts(event(step, { cents: 100, intent: 'pi_1', goods: 'Pin' }))[0]);
  assert.equal(new Set(told).size, storySteps.length);
});

test('a contact is linked by staff; otherwise it was merged', () => {
  const linked = (cause: StoryEvent['cause']) =>
    storyLines([{ ...event('contact_linked', { contact: '7' }), cause }])[0]!.text;
  assert.equal(linked('staff'), 'Linked to contact 7.');
  assert.equal(linked('induct'), 'Its contact was merged in HubSpot and is contact 7 now.');
});

test('staff are named, and everybody else by what they are', () => {
  const by = (cause: StoryEvent['cause'], actor: string | null = null) =>
    storyLines([{ ...event('paid'), cause, actor }])[0]!.by;
  assert.deepEqual(
    [by('staff', 'Robin'), by('joiner'), by('stripe'), by('induct'), by('record')],
    ['staff (Robin)', 'the joiner', 'Stripe', 'Induct', 'from the rows'],
  );
});
