import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { hubspotPeople } from '../../../tests/harness/hubspotPeople.ts';
import { runCommand } from '../../../tests/harness/runCommand.ts';
import { limitWith, sharedServer } from '../../../tests/harness/testServer.ts';
import { type Part, pdf, postPdf, uploadsTo } from '../../../tests/harness/uploads.ts';
import { signedLinks } from '../session/links.ts';

const server = await sharedServer({ UPLOAD_MAX_BYTES: '5000000' });
const { leavesNothing, upload } = await uploadsTo(server);

for (const order of ['before', 'after'])
  test(`a resume of a known contact is taken with its contact id ${order} the file`, async () => {
    const file: Part = ['file', pdf(), 'resume.pdf'];
    const id: Part = ['contactId', '102'];
    const { status, data } = await upload(
      order === 'before' ? [id, file] : [file, id],
      '/api/public/upload-resume',
    );
    assert.equal(status, 200);
    assert.deepEqual(data, {
      success: true,
      message:
        'Thank you, your resume was successfully uploaded and is being processed. You can safely close this window now.',
    });
  });

test('a resume by a link of before its contact was merged is kept with the contact that remains', async (t) => {
  const { person, merge } = hubspotPeople(server);
  const [kept, old] = [await person(), await person()];
  const id = await merge(kept.id, old.id);
  const answer = await postPdf(server.client(), '/api/public/upload-resume', {
    contactId: old.id,
    name: 'merged.pdf',
  });
  assert.equal(answer.status, 200);
  assert.match((await runCommand(t, server, 'documents show', [id])).out, /merged\.pdf/);
});

for (const [what, id, expected] of [
  ['an unknown contact', '999999', 404],
  ['no contact', '', 400],
  ['nonsense', 'x y', 404],
] as const)
  test(`a resume of ${what} is refused with a sentence, and leaves nothing behind`, async () => {
    const answer = await leavesNothing(() =>
      upload(
        [
          ['contactId', id],
          ['file', pdf(), 'resume.pdf'],
        ],
        '/api/public/upload-resume',
      ),
    );
    assert.equal(answer.status, expected);
    assert.ok(answer.message);
  });

test('too many resumes from one address are 429 before their bytes are taken', async (t) => {
  limitWith(t, server, { LIMIT_RESUMES_PER_ADDRESS: '2/60' });
  const send = () =>
    upload(
      [
        ['contactId', '102'],
        ['file', pdf(), 'resume.pdf'],
      ],
      '/api/public/upload-resume',
    );
  const statuses = [(await send()).status, (await send()).status];
  assert.deepEqual(statuses, [200, 200]);
  assert.equal((await leavesNothing(send)).status, 429);
});

/** Returns a function that uploads a resume for contact 102 with a signed link. `order` is the order of the form's parts. */
const resume = (...order: ('id' | 'signature' | 'file')[]) => {
  const { exp, sig } = server.deps.links.sign(
    { kind: 'resume', contactId: '102' },
    new Date(Date.now() + 60_000),
  );
  const fields: Record<(typeof order)[number], Part[]> = {
    id: [['contactId', '102']],
    signature: [
      ['exp', exp],
      ['sig', sig],
    ],
    file: [['file', pdf(), 'resume.pdf']],
  };
  return () =>
    upload(
      order.flatMap((part) => fields[part]),
      '/api/public/upload-resume',
    );
};
/** Until the end of the test, only signed links are accepted, as with the real HubSpot. */
function signLinks(t: TestContext, now = () => new Date()): void {
  const { links } = server.deps;
  server.deps.links = signedLinks(['x'.repeat(32)], false, now);
  t.after(() => (server.deps.links = links));
}

for (const order of [
  ['file', 'id'],
  ['id', 'file'],
] as const)
  test(`a resume without a signature, ${order.join(' before ')}, is refused before anybody looks into it`, async (t) => {
    signLinks(t);
    const inspect = t.mock.method(server.deps.inspector, 'inspect');
    const { status } = await leavesNothing(resume(...order));
    assert.deepEqual([status, inspect.mock.callCount()], [403, 0]);
  });

test('a resume whose signature came first and has expired is refused before its bytes are taken', async (t) => {
  signLinks(t, () => new Date(Date.now() + 3_600_000));
  const put = t.mock.method(server.deps.storage, 'put');
  const { status } = await leavesNothing(resume('id', 'signature', 'file'));
  assert.deepEqual([status, put.mock.callCount()], [403, 0]);
});

for (const order of [
  ['id', 'signature', 'file'],
  ['signature', 'file', 'id'],
  ['file', 'signature', 'id'],
] as const)
  test(`a resume that is signed is taken with its form as ${order.join(', ')}`, async (t) => {
    signLinks(t);
    assert.equal((await resume(...order)()).status, 200);
  });
