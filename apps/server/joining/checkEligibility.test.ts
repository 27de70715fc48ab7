import assert from 'node:assert/strict';
import { test } from 'node:test';
import { forgetRequests, requestsTo } from '../../../tests/harness/providers.ts';
import { limitWith, sharedServer } from '../../../tests/harness/testServer.ts';

const server = await sharedServer();

const check = (invitationCode: unknown) =>
  server.client().call('checkEligibility', { body: { invitationCode, isTOLA: true } });
const FAILED = 'Eligibility check failed. No contact found or invalid invite code.';

test('a personal code answers its contact, in any case and with spaces around it', async () => {
  for (const code of ['HONOR101', ' honor101 ']) {
    const { status, data } = await check(code);
    assert.equal(status, 200);
    assert.deepEqual([data.status, data.contactId], ['success', '101']);
  }
});

test('a school code answers without a contact', async () => {
  const { data } = await check('LINCOLN2026');
  assert.deepEqual([data.status, data.contactId], ['success', null]);
});

for (const [code, message] of [
  ['NOBODY999', FAILED],
  ['EXPIRED2025', 'Eligibility check failed. This invite code has expired.'],
] as const)
  test(`${code} is an answer and not a failure: 200 with the sentence`, async () => {
    const { status, data } = await check(code);
    assert.equal(status, 200);
    assert.deepEqual(data, { status: 'failed', message, contactId: null });
  });

test('who is a member already is told so, and their contact is not named', async () => {
  const { data } = await check('HONOR105');
  assert.equal(data.status, 'failed');
  assert.match(data.message, /already a member/);
  assert.deepEqual([data.contactId, data.isMember], [null, true]);
});

test('a code that breaks the rule is 400 with the sentence of the rule', async () => {
  const broken = await check('HONOR-101');
  assert.deepEqual(
    [broken.status, broken.message],
    [400, 'Invite code must contain only letters and numbers.'],
  );
  const empty = await check('');
  assert.deepEqual([empty.status, empty.message], [400, 'Invite code is required.']);
});

test('equal codes asked for at the same moment are one search in HubSpot, and a miss is remembered', async () => {
  await forgetRequests(server.hubspotUrl);
  await Promise.all([1, 2, 3, 4].map(() => check('MISSING1')));
  await check('MISSING1');
  const requests = await requestsTo(server.hubspotUrl);
  assert.equal(requests.filter(({ path }) => path.endsWith('/search')).length, 1);
});

test('while HubSpot is down a known code is answered from the mirror', async () => {
  await check('HONOR102');
  await server.hubspotFault({ kind: 'status', status: 500, times: 100 });
  try {
    const { data } = await check('HONOR102');
    assert.equal(data.contactId, '102');
    const unknown = await check('UNKNOWN77');
    assert.deepEqual(
      [unknown.status, unknown.headers.get('retry-after')],
      [503, '5'],
      'and an unknown one is not called invalid',
    );
  } finally {
    await server.hubspotFault(null);
  }
});

test("a member's code asks HubSpot anew, no oftener than wrong codes are let through", async (t) => {
  limitWith(t, server, { LIMIT_WRONG_CODES_PER_ADDRESS: '2/10' });
  await forgetRequests(server.hubspotUrl);
  const asked = async () => {
    const requests = await requestsTo(server.hubspotUrl);
    return requests.filter(({ path }) => path.endsWith('/batch/read')).length;
  };
  const client = server.client();
  await server.deps.contacts.learnCode('HONOR105');
  const start = { contactId: '105', invitationCode: 'HONOR105', isTOLA: true };
  // Above the limit every code gets the same answer, even a right code.
  for (const status of [409, 409, 429, 429])
    assert.equal((await client.call('initiateJoin', { body: start })).status, status);
  assert.equal(await asked(), 2);
  const checked = await client.call('checkEligibility', { body: { invitationCode: 'HONOR105' } });
  assert.deepEqual([checked.status, checked.headers.get('retry-after')], [429, '600']);
  assert.equal(await asked(), 2);
});
