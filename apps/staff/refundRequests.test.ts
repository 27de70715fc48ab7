import assert from 'node:assert/strict';
import { test } from 'node:test';
import { atStripe } from '../../tests/harness/refunds.ts';
import { runCommand } from '../../tests/harness/runCommand.ts';
import { newMember } from '../../tests/harness/steps.ts';
import { sharedServer } from '../../tests/harness/testServer.ts';
import { NO_OPEN_REQUEST } from '../server/paying/refunds/requestRefund.ts';

const server = await sharedServer();

let members = 0;
async function asking() {
  const person = { personalEmail: `asks${++members}@example.com` };
  const { client, uuid, intentId } = await newMember(server, 'LINCOLN2026', person);
  await client.call('requestRefund', { params: { uuid }, body: { total: 6500 } });
  return { uuid, intentId };
}

test('requests for money back are listed, accepted and declined by commands, each once', async (t) => {
  const [accepted, declined] = [await asking(), await asking()];
  const run = (name: string, ...args: string[]) => runCommand(t, server, name, args);
  const listed = async () => (await run('refunds asked')).out;
  assert.match(
    await listed(),
    new RegExp(
      `^${accepted.uuid}  since .*  \\$65\\.00  Jordan Rivera\n${declined.uuid}  since .*\n2 to answer\\.\n$`,
    ),
  );

  const shown = await run('refunds accept', accepted.uuid, '--dry-run');
  assert.match(shown.out, /^The member asked for \$65\.00 on .*\.$/m);
  assert.deepEqual(await atStripe(server, accepted.intentId), []);
  assert.equal((await run('refunds accept', accepted.uuid, '--yes')).code, 0);
  assert.deepEqual(await atStripe(server, accepted.intentId), [6500]);

  const decline = ['--sentence', 'Your pin is on its way.'];
  const asked = await run('refunds decline', declined.uuid, ...decline, '--dry-run');
  assert.match(
    asked.out,
    /^\$65\.00 was asked for on .*, and stays with us\.\nThe member is told: “Your pin is on its way\.”$/m,
  );
  assert.match(await listed(), /^1 to answer\.$/m);
  assert.equal((await run('refunds decline', declined.uuid, '--sentence', ' ', '--yes')).code, 1);
  assert.equal((await run('refunds decline', declined.uuid, ...decline, '--yes')).code, 0);
  assert.equal(await listed(), '0 to answer.\n');

  for (const { uuid } of [accepted, declined]) {
    assert.deepEqual(await run('refunds accept', uuid, '--yes'), { out: `${NO_OPEN_REQUEST}\n`, code: 1 });
    assert.equal((await run('refunds decline', uuid, ...decline, '--yes')).code, 1);
  }
  assert.deepEqual(await atStripe(server, declined.intentId), []);
  assert.equal((await run('refunds decline', declined.uuid, '--yes')).code, 2);
});
