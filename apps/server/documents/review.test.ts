import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { sql } from 'kysely';
import { REJECTED_FINALLY, type RejectionReason, rejectionReasons } from '#documents/document.ts';
import { changeSociety } from '../../../tests/harness/changeSociety.ts';
import { waiting } from '../../../tests/harness/locks.ts';
import { everything, failRefund, undergraduate } from '../../../tests/harness/refunds.ts';
import { runAsStaff, runCommand } from '../../../tests/harness/runCommand.ts';
import { paidJoin } from '../../../tests/harness/steps.ts';
import { sharedServer } from '../../../tests/harness/testServer.ts';
import { transcriptsOn } from '../../../tests/harness/transcripts.ts';
import { readLetter } from '../letters/takeLetter.ts';
import { refundJoin } from '../paying/refunds/refundJoin.ts';
import { applyRetention } from '../people/privacy/retention.ts';
import { refusalsOf } from '../people/privacy/underWay.ts';
import { NothingToDecide, reviewTranscripts, waitingTranscripts } from './review.ts';

const server = await sharedServer();
const { accept, lettersTo, reject, upload, uploaded } = transcriptsOn(server);

test('what has waited longest is listed first', async () => {
  const [second, first] = [await uploaded(), await uploaded()];
  for (const [{ uuid }, days] of [
    [second, 1],
    [first, 2],
  ] as const)
    await sql`update document set created_at = now() - make_interval(days => ${days}) where session_uuid = ${uuid}`.execute(
      server.deps.database,
    );
  const [oldest, next] = await waitingTranscripts(server.deps);
  assert.deepEqual([oldest!.uuid, next!.uuid], [first.uuid, second.uuid]);
});

test('an applicant who uploads once more has waited since the first file', async (t) => {
  const { client, uuid } = await uploaded();
  await sql`update document set created_at = '2026-01-05T12:00:00Z' where session_uuid = ${uuid}`.execute(
    server.deps.database,
  );
  assert.equal(await upload(client, uuid, 'page-2.pdf'), 200);
  const [first] = (await runCommand(t, server, 'documents list', [])).out.split('\n');
  assert.match(first!, new RegExp(`^${uuid}  since 2026-01-05  2 files`));
  const shown = await runCommand(t, server, 'documents show', [uuid]);
  assert.match(shown.out, / transcript\.pdf .*\n.*\n {2}page-2\.pdf /, 'in the order in which they came');
});

test('what waits is listed, shown, and accepted once', async (t) => {
  const { uuid } = await uploaded();
  assert.match(
    (await runCommand(t, server, 'documents list', [])).out,
    new RegExp(`${uuid} .* 1 file {2}Jordan Rivera$`, 'm'),
  );
  const shown = await runCommand(t, server, 'documents show', [uuid]);
  assert.match(shown.out, /^Jordan Rivera <.+@.+>, .+, graduates in \d{4}, GPA \d/);
  assert.match(shown.out, /open\n {2}transcript\.pdf \(application\/pdf, \d+\.\d\d KB\)/);
  assert.equal((await runCommand(t, server, 'documents accept', [uuid])).code, 0);
  assert.doesNotMatch((await runCommand(t, server, 'documents list', [])).out, new RegExp(uuid));
  assert.equal((await runCommand(t, server, 'documents accept', [uuid])).code, 1);
});

test('a transcript is compared with what its joiner gave, though HubSpot knows their contact by other data', async (t) => {
  const client = server.client();
  const given = { firstName: 'Samuel', lastName: 'Okafor-Lee', highSchoolGpa: '3.6' };
  const { uuid } = await paidJoin(server, client, 'HONOR103', given);
  await upload(client, uuid);
  const { out } = await runCommand(t, server, 'documents show', [uuid]);
  assert.match(out, /^Samuel Okafor-Lee <jordan\.rivera@example\.com>, .*, GPA 3\.6$/m);
});

test('whoever is rejected reads why, is asked again, and what is uploaded then waits', async (t) => {
  const { client, uuid } = await uploaded();
  const rejectionsShown = async () => {
    const { rejection } = (await client.call('getDocuments', { params: { uuid } })).data;
    return [rejection, (await client.call('getWelcome', { params: { uuid } })).data.rejection];
  };
  for (const [reason, message] of Object.entries(rejectionReasons) as [RejectionReason, string][]) {
    const { out, code } = await reject(t, uuid, reason);
    assert.deepEqual([code, out.includes(message)], [0, true], out);
    assert.deepEqual(await rejectionsShown(), [{ message, isFinal: false }, message]);
    assert.equal(await upload(client, uuid, `after ${reason}.pdf`), 200);
    assert.deepEqual(await rejectionsShown(), [null, null]);
    const { documents } = (await client.call('getDocuments', { params: { uuid } })).data;
    assert.deepEqual(
      documents.map(({ name }) => name),
      [`after ${reason}.pdf`],
    );
  }
});

test('a mistaken rejection is taken back by accepting: the last one as a whole, with its letter that is not sent yet', async (t) => {
  const client = server.client();
  const personalEmail = 'taken.back@example.com';
  const { uuid } = await paidJoin(server, client, 'LINCOLN2026', { personalEmail });
  await upload(client, uuid, 'blurred.pdf');
  assert.equal((await reject(t, uuid, 'unreadable')).code, 0);
  for (const name of ['page 1.pdf', 'page 2.pdf']) await upload(client, uuid, name);
  assert.equal((await reject(t, uuid, 'name-differs')).code, 0);
  assert.deepEqual(await accept(t, uuid), {
    code: 0,
    out: '2 documents are accepted.\nTheir rejection (name-differs) is taken back.\n',
  });
  const { data } = await client.call('getDocuments', { params: { uuid } });
  assert.deepEqual(
    [data.documents.map(({ name }) => name), data.rejection],
    [['page 1.pdf', 'page 2.pdf'], null],
  );
  assert.equal((await client.call('getWelcome', { params: { uuid } })).data.rejection, null);
  const [letter, ...others] = await lettersTo(personalEmail);
  assert.match(letter!, /you are eligible/);
  assert.deepEqual(others, []);
  assert.deepEqual(await accept(t, uuid), {
    code: 1,
    out: `The transcripts of join ${uuid} are accepted already.\n`,
  });
});

test('a decision that changes is told by a letter each time, and one that was not sent is withdrawn', async (t) => {
  const client = server.client();
  const personalEmail = 'changing.mind@example.com';
  const { uuid } = await paidJoin(server, client, 'LINCOLN2026', { personalEmail });
  await upload(client, uuid);
  const told: RegExp[] = [];
  const tells = async (sentence: string) => {
    told.push(new RegExp(sentence.replace(/[.?]/g, '\\$&')));
    const letters = await lettersTo(personalEmail);
    assert.equal(letters.length, told.length, letters.join('\n'));
    for (const [index, letter] of letters.entries()) assert.match(letter, told[index]!);
  };
  await reject(t, uuid, 'outdated');
  await tells(rejectionReasons.outdated);
  await accept(t, uuid);
  await tells('you are eligible');
  await reject(t, uuid, 'incomplete');
  await accept(t, uuid);
  await reject(t, uuid, 'unreadable');
  await tells(rejectionReasons.unreadable);
  await accept(t, uuid);
  await reject(t, uuid, 'outdated');
  await accept(t, uuid);
  await tells('you are eligible');
});

test('who rejects what somebody else has accepted reads that', async (t) => {
  const { client, uuid } = await uploaded();
  assert.equal((await accept(t, uuid)).code, 0);
  assert.match(
    (await reject(t, uuid, 'incomplete', '--dry-run')).out,
    /^1 document would be rejected\.\nIt was accepted before: that would be taken back\.\n/,
  );
  await upload(client, uuid, 'second.pdf');
  assert.match(
    (await reject(t, uuid, 'incomplete', '--dry-run')).out,
    /^2 documents would be rejected\.\n1 of them was accepted before: that would be taken back\.\n/,
  );
  assert.match(
    (await reject(t, uuid, 'incomplete')).out,
    /^2 documents are rejected\.\n1 of them was accepted before: that is taken back\.\nThe applicant reads: /,
  );
  assert.equal((await accept(t, uuid)).code, 0);
  assert.match(
    (await reject(t, uuid, 'below-requirement', '--final')).out,
    /^2 documents are rejected\.\n2 of them were accepted before: that is taken back\.\n/,
  );
});

test('a rejection for a wrong reason is corrected by rejecting for another one, which the applicant reads instead', async (t) => {
  const client = server.client();
  const personalEmail = 'wrong.reason@example.com';
  const { uuid } = await paidJoin(server, client, 'LINCOLN2026', { personalEmail });
  await upload(client, uuid);
  assert.equal((await reject(t, uuid, 'outdated')).code, 0);
  assert.deepEqual(await reject(t, uuid, 'outdated'), {
    code: 1,
    out: `The transcripts of join ${uuid} are rejected already (outdated).\n`,
  });
  const trial = await reject(t, uuid, 'unreadable', '--dry-run');
  assert.match(
    trial.out,
    /^1 document would be rejected\.\nIts rejection \(outdated\) would be replaced\.\nThe applicant would read: /,
  );
  const { code, out } = await runAsStaff(
    t,
    server,
    'Robin',
    'documents reject',
    uuid,
    '--reason',
    'unreadable',
  );
  assert.deepEqual(
    [code, out],
    [
      0,
      `1 document is rejected.\nIts rejection (outdated) is replaced.\nThe applicant reads: ${rejectionReasons.unreadable}\n`,
    ],
  );
  const { rejection } = (await client.call('getDocuments', { params: { uuid } })).data;
  assert.equal(rejection?.message, rejectionReasons.unreadable);
  const [letter, ...others] = await lettersTo(personalEmail);
  assert.ok(letter!.includes(rejectionReasons.unreadable), letter!);
  assert.deepEqual(others, []);
  const { out: story } = await runCommand(t, server, 'story', [uuid]);
  assert.match(story, /rejected \(outdated\).*\n.*rejected \(unreadable\)\. +staff \(Robin\)/);
});

test('a final rejection is not taken back, and staff read that', async (t) => {
  const { uuid } = await uploaded();
  await reject(t, uuid, 'unreadable');
  assert.equal((await reject(t, uuid, 'below-requirement', '--final')).code, 0);
  const out = `The transcripts of join ${uuid} were rejected finally, which cannot be taken back.\n`;
  assert.deepEqual(await accept(t, uuid), { code: 1, out });
  assert.deepEqual(await reject(t, uuid, 'unreadable'), { code: 1, out });
});

test('where nothing was uploaded there is nothing to decide', async (t) => {
  const { uuid } = await paidJoin(server, server.client());
  for (const decide of [() => accept(t, uuid), () => reject(t, uuid, 'unreadable')])
    assert.deepEqual(await decide(), { code: 1, out: `Join ${uuid} has no transcript to decide on.\n` });
});

test('a final rejection is told though it ends the membership itself, and is given again where its refund has failed', async (t) => {
  const client = server.client();
  const personalEmail = 'rejected.told@example.com';
  const { uuid, intentId } = await paidJoin(server, client, 'LINCOLN2026', { personalEmail });
  await upload(client, uuid);
  assert.equal((await reject(t, uuid, 'below-requirement', '--final')).code, 0);
  const [letter, ...others] = await lettersTo(personalEmail);
  assert.ok(letter!.includes(REJECTED_FINALLY.slice(0, 40)), letter!);
  assert.deepEqual(others, []);
  assert.equal((await reject(t, uuid, 'below-requirement', '--final')).code, 0);
  assert.match((await accept(t, uuid)).out, /were rejected finally/);
  await failRefund(server, intentId);
  assert.match((await reject(t, uuid, 'below-requirement', '--final')).out, /^\$65\.00 goes back\.$/m);
});

test('who accepts a transcript while it is rejected finally accepts nothing', async () => {
  const { uuid } = await uploaded();
  const { late } = await server.deps.database.transaction().execute(async (trx) => {
    await sql`
      update document set review = 'rejected', reason = 'gpa', is_final = true, reviewed_at = now()
      where session_uuid = ${uuid}`.execute(trx);
    const late = reviewTranscripts(server.deps, uuid, { review: 'accepted' }).catch(
      (error: unknown) => error,
    );
    await waiting(trx, 1);
    return { late };
  });
  assert.ok((await late) instanceof NothingToDecide);
});

test('a self-nominator is sent to upload again after a rejection, and not after a final one', async (t) => {
  const { client, uuid, intentId } = await undergraduate(server);
  const goesOn = async () => (await client.call('getUpgradeDetails', { params: { uuid } })).data.goOn;
  assert.equal(await goesOn(), '/registration/upload-transcript');
  assert.equal(await upload(client, uuid), 200);
  assert.equal(await goesOn(), '/registration/congratulations');
  assert.equal((await reject(t, uuid, 'unreadable')).code, 0);
  assert.equal(await goesOn(), '/registration/upload-transcript');
  assert.equal(await upload(client, uuid), 200);
  assert.equal((await reject(t, uuid, 'unreadable', '--final')).code, 0);
  assert.equal(await goesOn(), '/registration/congratulations');
  await failRefund(server, intentId);
  assert.equal(await goesOn(), '/registration/congratulations', 'nor when its refund has failed');
});

/** Backdates the upload and the review of a join's documents, and its refund. Then makes retention remove the files. */
async function removeFiles(t: TestContext, uuid: string): Promise<void> {
  const { database } = server.deps;
  await sql`update document set created_at = now() - interval '9 days', reviewed_at = reviewed_at - interval '9 days'
    where session_uuid = ${uuid}`.execute(database);
  await sql`update refund set updated_at = now() - interval '9 days' from payment
    where payment.intent_id = refund.intent_id and session_uuid = ${uuid}`.execute(database);
  changeSociety(t, server, (source) => `${source}\nretention:\n  documentsDays: 7\n`);
  assert.equal((await applyRetention(server.deps)).documents, 1);
}

test('a transcript whose file was removed before anybody decided on it is no proof, and nobody decides on it', async (t) => {
  const { client, uuid, intentId } = await undergraduate(server);
  assert.equal(await upload(client, uuid), 200);
  await refundJoin(server.deps, uuid, everything);
  await removeFiles(t, uuid);
  await failRefund(server, intentId);
  const list = async () => (await runCommand(t, server, 'documents list', [])).out.includes(uuid);
  assert.equal(await list(), false);
  const refused = {
    code: 1,
    out: `Join ${uuid} has no transcript to decide on: retention has removed the files, so that nobody can look at them any more.\n`,
  };
  assert.deepEqual(await accept(t, uuid), refused);
  assert.deepEqual(await reject(t, uuid, 'unreadable'), refused);
  assert.deepEqual(await reject(t, uuid, 'unreadable', '--final'), refused);
  assert.match(
    (await runCommand(t, server, 'documents show', [uuid])).out,
    / {2}open, but its file was removed\n/,
  );
  const { goOn } = (await client.call('getUpgradeDetails', { params: { uuid } })).data;
  assert.equal(goOn, '/registration/upload-transcript');
  assert.equal((await client.call('getWelcome', { params: { uuid } })).data.owesTranscript, true);
  const { database } = server.deps;
  const letter = database.selectFrom('letter').select('id').where('session_uuid', '=', uuid);
  const { id } = await letter.where('kind', '=', 'proof-due').executeTakeFirstOrThrow();
  assert.equal((await readLetter(server.deps, id))?.hasProof, false);
  const refusals = await refusalsOf(database, [uuid]);
  assert.ok(!refusals.join().includes('its transcript waits'), refusals.join());
  await sql`update join_session set paid_at = now() - interval '31 days' where uuid = ${uuid}`.execute(
    server.deps.database,
  );
  assert.match((await runCommand(t, server, 'documents due', [])).out, new RegExp(uuid));
  assert.equal(await upload(client, uuid, 'again.pdf'), 200);
  const listed = (await runCommand(t, server, 'documents list', [])).out;
  assert.match(listed, new RegExp(`${uuid}  since \\S+  1 file  `));
  assert.equal((await accept(t, uuid)).out, '1 document is accepted.\n');
});

test('a rejection comes back to life beside a later transcript whose file was removed undecided', async (t) => {
  const { client, uuid, intentId } = await undergraduate(server);
  assert.equal(await upload(client, uuid), 200);
  assert.equal((await reject(t, uuid, 'unreadable')).code, 0);
  assert.equal(await upload(client, uuid, 'better.pdf'), 200);
  await refundJoin(server.deps, uuid, everything);
  await sql`update document set reviewed_at = now() + interval '9 days' where session_uuid = ${uuid} and review = 'rejected'`.execute(
    server.deps.database,
  );
  await removeFiles(t, uuid);
  await failRefund(server, intentId);
  const { rejection } = (await client.call('getDocuments', { params: { uuid } })).data;
  assert.equal(rejection?.message, rejectionReasons.unreadable);
});

test('a rejection is not taken back once the file of its transcript was removed', async (t) => {
  const { client, uuid } = await undergraduate(server);
  assert.equal(await upload(client, uuid), 200);
  assert.equal((await reject(t, uuid, 'unreadable')).code, 0);
  await removeFiles(t, uuid);
  const { code, out } = await accept(t, uuid);
  assert.deepEqual([code, /retention has removed the files/.test(out)], [1, true]);
  const { rejection } = (await client.call('getDocuments', { params: { uuid } })).data;
  assert.equal(rejection?.message, rejectionReasons.unreadable);
});
