import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { sql } from 'kysely';
import { askHubspot } from '../../../tests/harness/providers.ts';
import { runCommand } from '../../../tests/harness/runCommand.ts';
import { paidJoin } from '../../../tests/harness/steps.ts';
import { sharedServer } from '../../../tests/harness/testServer.ts';
import { postPdf } from '../../../tests/harness/uploads.ts';
import { personEraseCommand } from './eraseCommand.ts';

/** What is under way with a person while they are erased leaves nothing of them behind. */
const server = await sharedServer({}, { hubspotLimits: 'off' });
const { deps } = server;

async function erase(t: TestContext, email: string, ...options: string[]): Promise<void> {
  const { code, out } = await runCommand(t, server, personEraseCommand, [email, '--yes', ...options]);
  assert.equal(code, 0, out);
}
/** Does something once a file has arrived, before it is kept. */
function whileUploading(t: TestContext, work: () => Promise<void>): void {
  const { inspect } = deps.inspector;
  t.mock.method(deps.inspector, 'inspect', async (...given: Parameters<typeof inspect>) => {
    const found = await inspect.apply(deps.inspector, given);
    await work();
    return found;
  });
}
async function assertNoDocument(): Promise<void> {
  const { rows } = await sql`select from document`.execute(deps.database);
  assert.deepEqual([rows.length, readdirSync(server.documents)], [0, []]);
}
async function contactInMirror(email: string): Promise<string> {
  const { id } = await askHubspot(server.hubspotUrl, 'POST', '', { properties: { email } });
  await deps.contacts.refresh(id);
  return id;
}

test('a transcript that arrives while its person is erased is not kept, and its sender is told', async (t) => {
  const client = server.client();
  const email = 'uploading@example.com';
  const { uuid } = await paidJoin(server, client, undefined, { personalEmail: email });
  whileUploading(t, () => erase(t, email));
  const answer = await postPdf(client, `/api/public/join-session/${uuid}/upload-transcript`);
  const { message } = (await answer.json()) as { message: string };
  assert.deepEqual([answer.status, message], [404, 'This join session was not found. Please start over.']);
  await assertNoDocument();
});

test('a resume that arrives while its contact is erased is not kept, whether its row stays or goes', async (t) => {
  const byJoin = 'resume.named@example.com';
  const named = await contactInMirror(byJoin);
  // Another person's membership names the contact, so that its id stays in the mirror.
  const guardian = { personalEmail: 'guardian@example.com' };
  const { uuid } = await paidJoin(server, server.client(), undefined, guardian);
  await sql`update membership set contact_id = ${named} where session_uuid = ${uuid}`.execute(deps.database);
  const alone = 'resume.alone@example.com';
  const emails = { [named]: byJoin, [await contactInMirror(alone)]: alone };
  for (const [contactId, email] of Object.entries(emails)) {
    whileUploading(t, () => erase(t, email));
    const answer = await postPdf(server.client(), '/api/public/upload-resume', { contactId });
    t.mock.reset();
    assert.equal(answer.status, 404);
    await assertNoDocument();
  }
  const { rows } = await sql`select from contact where id = ${named} and deleted_at is not null`.execute(
    deps.database,
  );
  assert.equal(rows.length, 1);
});
