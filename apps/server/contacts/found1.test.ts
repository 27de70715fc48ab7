import assert from 'node:assert/strict';
import { test } from 'node:test';
import { atHubspot, deliver, newContact } from '../../../tests/harness/deliver.ts';
import { everything } from '../../../tests/harness/refunds.ts';
import { noticesOf } from '../../../tests/harness/rows.ts';
import { runCommand } from '../../../tests/harness/runCommand.ts';
import { paidJoin } from '../../../tests/harness/steps.ts';
import { sharedServer } from '../../../tests/harness/testServer.ts';
import { refundJoin } from '../refunds/refundJoin.ts';
import { linkCommand } from './commands.ts';

const server = await sharedServer({}, { hubspotLimits: 'off', searchLagMs: 0 });

const statusOf = async (id: string) => (await atHubspot(server, id, 'membership_status')).membership_status;

const ways = ['by a code of their own', "by a school's code"] as const;

/** Somebody who joined in one of these ways is refunded, and joins anew by a school's code under the same name and email. */
async function refundedAndJoinedAnew(way: (typeof ways)[number], code: string) {
  const personalEmail = `${code.toLowerCase()}@example.com`;
  if (way === 'by a code of their own')
    await newContact(server, personalEmail, {
      firstname: 'Jordan',
      lastname: 'Rivera',
      invitation_code: code,
    });
  const { uuid: first } = await paidJoin(
    server,
    server.client(),
    way === 'by a code of their own' ? code : 'LINCOLN2026',
    { personalEmail },
  );
  await deliver(server);
  const { id } = (await server.hubspot.findByEmail(personalEmail))!;
  await refundJoin(server.deps, first, everything);
  await deliver(server);
  assert.equal(await statusOf(id), 'former');
  const { uuid: second } = await paidJoin(server, server.client(), 'LINCOLN2026', { personalEmail });
  await deliver(server);
  assert.equal(await statusOf(id), 'member', 'by the second join alone');
  return { id, first, second };
}

for (const [index, way] of ways.entries()) {
  test(`who joined ${way}, was refunded and has joined anew has not paid twice: no notice leads staff to give back the only membership`, async () => {
    const { second } = await refundedAndJoinedAnew(way, `ANEWCODE${index}`);
    const harmful = (await noticesOf(server, second)).filter((notice) =>
      notice.includes(`operator -- refund ${second}`),
    );
    assert.deepEqual(harmful, []);
  });

  test(`the join by which somebody who joined ${way} and was refunded has joined anew is linked to their contact, whom it alone makes a member`, async (t) => {
    const { id, second } = await refundedAndJoinedAnew(way, `ANEWLINK${index}`);
    const { code, out } = await runCommand(t, server, linkCommand, [second, id]);
    assert.equal(code, 0, out);
  });
}
