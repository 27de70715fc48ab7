import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { onlyLong as skip } from '../harness/testLength.ts';
import { broken, type Variant, variants } from './broken.ts';
import { joinOf, type Plan, planWith } from './plan.ts';
import { runPlan } from './run.ts';

const preload = pathToFileURL(join(import.meta.dirname, 'broken.ts')).href;

/**
 * The joins that are played for each variant of broken.ts. A unit is one join, or several that are played together (plan.ts). On
 * a server that is broken as the variant says, at least one of these joins must go wrong.
 */
const units = {
  'no lock': [
    // Joins with one payment each, which four calls of the return page and two webhooks report to our server at the same time.
    ...['a', 'b', 'c'].map((name) => [joinOf({ name, returns: 'atOnce', webhooks: 'doubled' })]),
    // Two pairs of joins. Both joins of a pair are of the same contact, and both are charged.
    ...['d', 'e'].map((name, contact) => [
      joinOf({ name, start: 'invite', contact, pays: 'direct', returns: 'atOnce' }),
      joinOf({ name: `${name}2`, start: 'checkout', contact, pays: 'direct', membership: 2, server: 1 }),
    ]),
  ],
  'commit before verify': [[joinOf({ name: 'f', returns: 'lie', leaves: 'checkout' })]],
  // The person chooses another membership after the charge, and before the payment is first reported to our server.
  'current items': [
    [joinOf({ name: 'g', pays: 'direct', changes: 'membership', changesWhen: 'after', webhooks: 'lost' })],
  ],
  'no listener': [[joinOf({ name: 'h', breakOff: { point: 'commit:before' } })]],
} satisfies Record<Variant, Plan['units']>;

const breaking = (variant: Variant) => ({ NODE_OPTIONS: `--import=${preload}`, FAULTS_BROKEN: variant });

// Commits are slow (ms). Without a lock, two transactions that run at the same time then overlap, and the defect shows.
const differencesOf = async (variant: Variant, slowCommitMs = 100) =>
  (await runPlan(planWith(units[variant]), { slowCommitMs, env: breaking(variant) })).differences;

test('what is right shows no difference', { skip }, async () => {
  const { differences } = await runPlan(planWith(Object.values(units).flat()), { slowCommitMs: 100 });
  assert.deepEqual(differences, []);
});

test('a confirmPayment without locks is caught', { skip }, async () => {
  // Commits take 1 s, so that reports of one payment overlap even on a busy machine.
  const kinds = (await differencesOf('no lock', 1_000)).map(({ kind }) => kind);
  assert.ok(kinds.includes('complaint') || kinds.includes('webhook'), `found ${kinds}`);
});

test('a confirmPayment that writes before it verifies is caught', { skip }, async () => {
  const kinds = (await differencesOf('commit before verify')).map(({ kind }) => kind);
  assert.ok(kinds.includes('membership without a charge'), `found ${kinds}`);
  assert.ok(kinds.includes('reconcile: paid_here_only'), `found ${kinds}`);
});

test('a confirmPayment that takes the items of now instead of those that were paid is caught', {
  skip,
}, async () => {
  const kinds = (await differencesOf('current items')).map(({ kind }) => kind);
  assert.ok(kinds.includes('another product'), `found ${kinds}`);
  assert.ok(kinds.includes('reconcile: other_product'), `found ${kinds}`);
});

test('a server that ends when a connection breaks in the middle of a transaction is caught', {
  skip,
}, async () => {
  const kinds = (await differencesOf('no listener')).map(({ kind }) => kind);
  assert.deepEqual(new Set(kinds), new Set(['a server ended by itself']));
});

test('a variant whose text has gone says so, and no server starts with it', () => {
  for (const variant of Object.values(variants))
    assert.throws(() => broken('export const confirmPayment = null;', variant), /to break any more/);
});

test('every variant finds in the server what it breaks', () => {
  for (const variant of Object.values(variants)) {
    const source = readFileSync(new URL(`../../apps/server/${variant.file}`, import.meta.url), 'utf8');
    assert.notEqual(broken(source, variant), source);
  }
});
