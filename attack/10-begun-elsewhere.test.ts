import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { beginPayment, details, openIntent } from '../tests/harness/steps.ts';
import { sharedServer } from '../tests/harness/testServer.ts';
import { startJoin } from '../tests/harness/steps.ts';

const server = await sharedServer();
async function ordering(code: string) {
  const client = server.client();
  const uuid = await startJoin(client, code);
  await client.call('submitDetails', { params: { uuid }, body: details() });
  await client.call('setMembership', { params: { uuid }, body: { membershipId: 1 } });
  return { client, uuid, ...(await openIntent(client, uuid)) };
}
const later = (uuid: string, seconds: number) =>
  sql`update join_session set paying_since = paying_since - make_interval(secs => ${seconds}) where uuid = ${uuid}`.execute(server.deps.database);

test('nobody keeps another browser from paying for ever by pressing Buy Now again and again without a card', async () => {
  const mine = await ordering('HONOR101');
  const other = await ordering('HONOR101'); // somebody else with the code
  const answers: number[] = [];
  for (let round = 0; round < 20; round++) {
    assert.equal((await beginPayment(other.client, other.uuid, other.revision)).status, 200);
    const { status } = await beginPayment(mine.client, mine.uuid, mine.revision);
    answers.push(status);
    if (status === 200) break;
    await later(other.uuid, 10); // ten seconds pass
  }
  console.log(answers.join(' '));
  assert.ok(answers.includes(200), '200 seconds of no card tried elsewhere, and still refused');
});
