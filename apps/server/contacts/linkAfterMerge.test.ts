import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deliver, newContact } from '../../../tests/harness/deliver.ts';
import { askHubspot } from '../../../tests/harness/providers.ts';
import { runCommand } from '../../../tests/harness/runCommand.ts';
import { paidJoin } from '../../../tests/harness/steps.ts';
import { sharedServer } from '../../../tests/harness/testServer.ts';
import { linkCommand } from './commands.ts';

const server = await sharedServer({}, { hubspotLimits: 'off', searchLagMs: 0 });

test('staff are told whose membership is in the way when the contact that a join created was merged with a member', async (t) => {
  const invitationCode = 'MERGEDLINK1';
  const invited = await newContact(server, 'merged.link@example.com', { invitation_code: invitationCode });
  const byCode = await paidJoin(server, server.client(), invitationCode, { firstName: 'Ada' });
  const person = { firstName: 'Ben', personalEmail: 'merged.link.too@example.com' };
  const bySchool = await paidJoin(server, server.client(), 'LINCOLN2026', person);
  await deliver(server);
  const created = (await server.hubspot.findByEmail(person.personalEmail))!.id;
  const merge = { primaryObjectId: invited, objectIdToMerge: created };
  const { id } = await askHubspot(server.hubspotUrl, 'POST', '/merge', merge);
  await server.deps.contacts.refresh(id);
  const { out, code } = await runCommand(t, server, linkCommand, [bySchool.uuid, id]);
  assert.equal(code, 1);
  assert.match(
    out,
    new RegExp(`Contact ${id} holds that already by join ${byCode.uuid}\\. Give one of them back: `),
  );
});
