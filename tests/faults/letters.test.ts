import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onlyLong as skip } from '../harness/testLength.ts';
import { joinOf, planWith } from './plan.ts';
import { runPlan } from './run.ts';

const names = ['a', 'b', 'c', 'd', 'e'];
const left = joinOf({
  name: 'left',
  start: 'selfNomination',
  undergraduate: true,
  membership: 3,
  leaves: 'checkout',
});
const plan = planWith([...names.map((name) => joinOf({ name })), left].map((join) => [join]));

test('the count of letters finds one that is missing, one too many, another amount, and a reminder of what is paid', {
  skip,
}, async () => {
  const { differences } = await runPlan(plan, {
    async meddle(world, people) {
      const uuid = (name: string) => people.find(({ join }) => join.name === name)!.uuid;
      const sql = (text: string, ...values: unknown[]) => world.database.query(text, values);
      await world.sendLetters();
      await sql(`update membership set type = 'membership_upgrade' where session_uuid = $1`, uuid('b'));
      await sql(
        `insert into letter (kind, session_uuid, occasion) select kind, session_uuid, occasion || ' again' from letter
         where session_uuid = $1 and kind = 'confirmation'`,
        uuid('c'),
      );
      await sql(`update payment set amount_cents = 6400 where session_uuid = $1`, uuid('d'));
      await sql(
        `insert into letter (kind, session_uuid, occasion) select kind, session_uuid, 'unknown' from letter
         where session_uuid = $1 and kind = 'confirmation'`,
        uuid('e'),
      );
      await sql(
        `insert into letter (kind, session_uuid, occasion, sent_at) values ('reminder-hour', $1, 'left', now())`,
        uuid('a'),
      );
      await sql(
        `insert into letter (kind, session_uuid, occasion) values ('reminder-days', $1, 'left again')`,
        uuid('left'),
      );
    },
  });
  const found = (name: string) =>
    differences
      .filter(({ kind, subject }) => kind.startsWith('letter') && subject.includes(`join ${name} `))
      .map(({ text }) => text.replace(/pi_\w+/, 'pi'))
      .sort();
  assert.deepEqual(found('a'), ['reminder-hour was sent after it had been paid for']);
  assert.deepEqual(found('left'), ['2 times “Your registration is still open”']);
  assert.deepEqual(found('b'), [
    'a receipt of the membership of pi: 1 letters; due: false',
    'a receipt of the upgrade of pi: 0 letters; due: true',
  ]);
  assert.deepEqual(found('c'), ['a receipt of the membership of pi: 2 letters; due: true']);
  assert.deepEqual(found('d'), ['a receipt of the membership of pi: it says 6500 cents, 6400 were charged']);
  assert.deepEqual(found('e'), [], 'a letter whose payment is not there does not hold, and is not sent');
});
