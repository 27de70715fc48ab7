import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onlyLong as skip } from '../harness/testLength.ts';
import { joinOf, planWith } from './plan.ts';
import { runPlan } from './run.ts';

const plan = planWith(
  ['a', 'b', 'c', 'd'].map((name) => [joinOf({ name, extras: [21, 30], webhooks: 'lost' })]),
);

test('the accountant’s file is found wrong where it names no product, books dues of nobody, or lacks a line', {
  skip,
}, async () => {
  const uuids = new Map<string, string>();
  let missing = '';
  const { differences } = await runPlan(plan, {
    async meddle(world, people) {
      for (const { join, uuid } of people) uuids.set(uuid!, join.name);
      const person = (name: string) => people.find(({ join }) => join.name === name)!;
      await world.database.query('delete from order_snapshot where session_uuid = $1', [person('a').uuid]);
      await world.stripe('POST', '/v1/refunds', { payment_intent: person('b').screen!.intentId });
      const write = world.accountantsFile;
      world.accountantsFile = async () => {
        const lines = (await write()).trimEnd().split('\r\n');
        const last = lines.findLastIndex((line) => line.includes(person('c').uuid!));
        missing = lines.splice(last, 1)[0]!.split(',').at(-1)!;
        return `${lines.join('\r\n')}\r\n`;
      };
    },
  });
  const found = differences
    .filter(({ kind }) => kind.startsWith('books'))
    .map(({ kind, subject }) => `${kind}: ${uuids.get(subject) ?? subject}`);
  assert.deepEqual([...new Set(found)].sort(), [
    `books unlike the balance: ${missing}`,
    'books unlike the join: a',
    'books unlike the join: b',
  ]);
});
