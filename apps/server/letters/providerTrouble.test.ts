import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { sql } from 'kysely';
import { refillBudget } from '../../../tests/harness/deliver.ts';
import { beforeEachIn } from '../../../tests/harness/hooks.ts';
import { staffNotices } from '../../../tests/harness/rows.ts';
import { sharedServer } from '../../../tests/harness/testServer.ts';
import { createLog } from '../platform/http/logging.ts';
import type { ProviderTrouble } from '../providers/trouble.ts';
import { troubleReporter } from './providerTrouble.ts';
import { endNotice, readNotices } from './readNotices.ts';

const server = await sharedServer({}, { hubspotLimits: 'off' });
before(async () => {
  await server.client().call('checkEligibility', { body: { invitationCode: 'HONOR103' } });
});
beforeEachIn(import.meta.filename, async () => {
  await sql`delete from staff_notice`.execute(server.background);
  await refillBudget(server);
  await server.hubspotFault(null);
});

const trouble: ProviderTrouble = {
  provider: 'Stripe',
  call: 'POST /v1/payment_intents',
  status: 403,
  code: 'secret_key_required',
  param: null,
  requestId: 'req_1',
  notice: 'Stripe does not let the key make payments.',
};
const notices = () => staffNotices(server);

/** Returns a log, and the array to which it appends its lines. */
function readableLog() {
  const lines: Record<string, unknown>[] = [];
  const log = createLog('debug', { write: (line) => void lines.push(JSON.parse(line)) });
  return { log, lines };
}

test('a cause is a line in the log each time and one notice while it is open, however many processes meet it at once', async () => {
  const { log, lines } = readableLog();
  const reporters = [server.deps.database, server.background].map((database) =>
    troubleReporter(database, log),
  );
  for (let round = 0; round < 5; round++) await Promise.all(reporters.map((report) => report(trouble)));
  assert.deepEqual(await notices(), [trouble.notice]);
  assert.equal(lines.length, 10);
  const { notice: _, ...facts } = trouble;
  for (const line of lines)
    assert.deepEqual({ ...line, level: 0, time: 0, msg: '' }, { ...facts, level: 0, time: 0, msg: '' });
  await reporters[0]!({ ...trouble, notice: 'Another cause.' });
  const staff = { ...server.deps, actor: 'Dana' };
  const [first] = await readNotices(staff, { since: new Date(0) });
  assert.equal(first!.count, 10);
  assert.deepEqual(first!.params, { text: trouble.notice, provider: trouble.provider });
  assert.deepEqual([await endNotice(staff, first!.id), await endNotice(staff, first!.id)], [true, false]);
  await reporters[1]!(trouble);
  assert.deepEqual(await notices(), [trouble.notice, 'Another cause.', trouble.notice]);
  assert.equal((await readNotices(staff, { since: new Date(0) })).length, 2);
});

test('what ends by itself is a line in the log, and no notice', async () => {
  const { log, lines } = readableLog();
  await troubleReporter(server.background, log)({ ...trouble, notice: null });
  assert.deepEqual(await notices(), []);
  assert.equal(lines[0]?.requestId, 'req_1');
});

for (const [status, isTold] of [
  [400, true],
  [401, true],
  [503, false],
] as const)
  test(`while HubSpot answers ${status}, a joiner who waits for it hears 503, and staff ${isTold ? 'hear of it' : 'are left alone'}`, async () => {
    await server.hubspotFault({ kind: 'status', status, body: { category: 'ANY' }, times: 100 });
    const client = server.client();
    const code = await client.call('checkEligibility', { body: { invitationCode: 'NOBODY' } });
    assert.deepEqual([code.status, code.headers.get('retry-after')], [503, '5'], code.message!);
    const link = await client.call('initJoin', { params: { id: '990' }, body: {} });
    assert.equal(link.status, 503, link.message!);
    const known = await client.call('checkEligibility', { body: { invitationCode: 'HONOR103' } });
    assert.equal(known.status, 200, 'who is known here does not need HubSpot');
    // Two different calls fail for the same cause: the search for a code, and the reading of a link's contact. Staff get one
    // notice, or two if the notice's text names the call. No notice is written twice.
    const told = await notices();
    assert.equal(new Set(told).size, told.length, told.join('\n'));
    assert.ok(isTold ? told.length >= 1 && told.length <= 2 : told.length === 0, told.join('\n'));
  });
