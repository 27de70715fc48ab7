import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { deliver, deliveryOf } from '../../../tests/harness/deliver.ts';
import { beforeEachIn } from '../../../tests/harness/hooks.ts';
import { control } from '../../../tests/harness/providers.ts';
import { runCommand } from '../../../tests/harness/runCommand.ts';
import { details, startJoin } from '../../../tests/harness/steps.ts';
import { sharedServer } from '../../../tests/harness/testServer.ts';
import { askRuleRefusals } from '../running/doctor/askRuleRefusals.ts';

const server = await sharedServer({}, { hubspotLimits: 'off' });
beforeEachIn(import.meta.filename, async () => {
  await rule(null);
  await sql`delete from staff_notice`.execute(server.background);
});

const rule = (rule: object | null) =>
  control(server.hubspotUrl, rule ? 'POST' : 'DELETE', 'rules', rule ?? undefined);
const submit = async (code: string, more: object) => {
  const client = server.client();
  const uuid = await startJoin(client, code);
  await client.call('submitDetails', { params: { uuid }, body: details(more) });
  return uuid;
};

for (const [what, code, given, words] of [
  [
    'every new contact must have',
    'LINCOLN2026',
    { property: 'phone', required: true },
    'A rule in HubSpot wants phone of every new contact, and the join does not have it. Make it optional (HubSpot: Settings, Objects, Contacts, Create Record).',
  ],
  [
    'a contact in Texas must have',
    'HONOR102',
    { property: 'phone', requiredWhen: { property: 'state', value: 'Texas' } },
    'A rule in HubSpot wants phone because of the value of state, and the join does not have it. Change the rule (HubSpot: Settings, Properties, state, conditional logic).',
  ],
] as const)
  test(`a join without what ${what} waits with the rule in words; staff and the doctor know, others go through, and so does it afterwards`, async (t) => {
    await rule(given);
    const refused = [
      await submit(code, { personalEmail: `${code}@example.com`, state: 'Texas', country: 'United States' }),
    ];
    const other = await submit('HONOR103', {
      state: 'Ontario',
      country: 'Canada',
      personalEmail: 'o@example.com',
    });
    await deliver(server);
    const refusals = [];
    for (const uuid of [...refused, other]) refusals.push((await deliveryOf(server, uuid)).refusal);
    assert.deepEqual(refusals, [words, null]);
    assert.match((await runCommand(t, server, 'contacts failed', [])).out, /A rule in HubSpot wants phone/);
    const { out } = await runCommand(t, server, 'notices', []);
    assert.equal(out.split(words).length, 2, out);
    assert.deepEqual(await askRuleRefusals(server.deps.config.databaseUrl), {
      said: [{ reason: words, joins: 1 }],
    });
    await rule(null);
    assert.equal((await runCommand(t, server, 'contacts retry', ['all'])).code, 0);
    await deliver(server);
    assert.deepEqual(await askRuleRefusals(server.deps.config.databaseUrl), { said: [] });
  });

test('a join that HubSpot refused is sent again once its joiner has corrected the details', async () => {
  await rule({ property: 'phone', requiredWhen: { property: 'state', value: 'Texas' } });
  const client = server.client();
  const uuid = await startJoin(client, 'LINCOLN2026');
  const outcomeOf = async (place: { state: string; country: string }) => {
    const body = details({ personalEmail: 'moved@example.com', ...place });
    assert.equal((await client.call('submitDetails', { params: { uuid }, body })).status, 200);
    await deliver(server);
    const { refusal, isDue } = await deliveryOf(server, uuid);
    return { isRefused: refusal !== null, isDue };
  };
  assert.deepEqual(await outcomeOf({ state: 'Texas', country: 'United States' }), {
    isRefused: true,
    isDue: true,
  });
  assert.deepEqual(await outcomeOf({ state: 'Ontario', country: 'Canada' }), {
    isRefused: false,
    isDue: false,
  });
});
