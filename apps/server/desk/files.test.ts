import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { sql } from 'kysely';
import { startDesk } from '../../../tests/harness/desk.ts';
import { deskPeopleOn } from '../../../tests/harness/deskPeople.ts';
import { pdf } from '../../../tests/harness/documents.ts';
import { newMember } from '../../../tests/harness/steps.ts';
import { sharedServer } from '../../../tests/harness/testServer.ts';
import { notifyStaff } from '../letters/notifyStaff.ts';

const server = await sharedServer();
const { deps } = server;
const { database } = deps;
const desk = await startDesk(server);
after(() => desk.close());
const robin = await desk.signedIn('staff');
const { idOf, somebody, orderedPin, personAt } = deskPeopleOn(server);

async function member() {
  const { uuid } = await newMember(server, 'LINCOLN2026', somebody());
  return { uuid, params: { id: String(await idOf(uuid)) } };
}

test('a certificate comes as a file to be saved, with the name that was given, and is recorded', async () => {
  const { uuid, params } = await member();
  await notifyStaff(database, {
    kind: 'certificate_name',
    subject: uuid,
    params: { letters: 'م' },
    remedy: { do: 'print certificate', uuid },
  });
  const made = await robin.call('getCertificate', {
    params,
    query: { join: '1', name: 'Mohamed Ali', paper: 'a4' },
  });
  assert.equal(made.status, 200);
  assert.equal(made.data.subarray(0, 5).toString(), '%PDF-');
  assert.equal(made.headers.get('content-disposition'), 'attachment; filename=certificate.pdf');
  assert.match(made.headers.get('content-security-policy')!, /^sandbox;/);
  const { problems, story } = await personAt(robin, Number(params.id));
  assert.deepEqual(problems, [], 'it is printed, so the notice has ended');
  assert.ok(story.some(({ text, by }) => text === 'Download certificate.' && by === 'staff (Person 1)'));
});

test('a certificate that cannot be made says why', async () => {
  const { params } = await member();
  const { uuid } = await orderedPin();
  const left = { id: String(await idOf(uuid)) };
  for (const [at, query, status, sentence] of [
    [params, { join: '1', name: 'محمد' }, 409, /^The typeface has no .*: give the name in Latin/],
    [params, { join: '2' }, 404, /no join of this number/],
    [params, { join: 'x' }, 400, /./],
    [left, { join: '1' }, 409, /./],
  ] as const) {
    const answer = await robin.call('getCertificate', { params: at, query });
    assert.deepEqual([answer.status, sentence.test(answer.message!)], [status, true], answer.message!);
  }
});

test('a transcript that came by mail is added to a join, and is told once', async () => {
  const { params } = await member();
  const query = { join: '1', name: 'From the mail.pdf' };
  const added = await robin.call('addTranscript', { params, query, body: new Uint8Array(pdf()) });
  assert.deepEqual([added.status, added.data], [200, { name: 'From the mail.pdf' }]);
  const { documents, story } = await personAt(robin, Number(params.id));
  assert.deepEqual(
    documents.map(({ name, kind, review }) => [name, kind, review]),
    [['From the mail.pdf', 'transcript', 'open']],
  );
  assert.deepEqual(
    story.filter(({ isStaff }) => isStaff).map(({ text, by }) => [text, by]),
    [['Transcript uploaded.', 'staff (Person 1)']],
  );
});

test('what is no transcript, or of a join that takes none, is not added', async () => {
  const { params } = await member();
  const { uuid } = await orderedPin();
  const left = { id: String(await idOf(uuid)) };
  const bytes = new Uint8Array(pdf());
  for (const [at, query, body, status] of [
    [params, { join: '1', name: 'x.pdf' }, new TextEncoder().encode('<script>'), 415],
    [params, { join: '1', name: 'x.pdf' }, new Uint8Array(), 400],
    [params, { join: '1', name: 'x.pdf' }, { json: true }, 415],
    [params, { join: '2', name: 'x.pdf' }, bytes, 404],
    [params, { name: 'x.pdf' }, bytes, 400],
    [left, { join: '1', name: 'x.pdf' }, bytes, 409],
  ] as const) {
    const answer = await robin.call('addTranscript', {
      params: at,
      query: query as Record<string, string>,
      body,
    });
    assert.equal(answer.status, status, answer.message!);
  }
  const { rows } = await sql`select from document where session_uuid = ${uuid}`.execute(database);
  assert.equal(rows.length, 0);
});
