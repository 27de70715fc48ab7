import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { sql } from 'kysely';
import { pathOf } from '#contract/calls.ts';
import { REJECTED_FINALLY, rejectionReasons, UPLOAD_LINK_OVER } from '#documents/document.ts';
import { changeSociety } from '../../../tests/harness/changeSociety.ts';
import { pdf, program } from '../../../tests/harness/documents.ts';
import { everything, failRefund, membershipOnly, undergraduate } from '../../../tests/harness/refunds.ts';
import { runCommand } from '../../../tests/harness/runCommand.ts';
import { orderingJoin, paidJoin } from '../../../tests/harness/steps.ts';
import { temporaryFolder } from '../../../tests/harness/temporaryFolder.ts';
import { type Client, limitWith, sharedServer } from '../../../tests/harness/testServer.ts';
import { transcriptsOn } from '../../../tests/harness/transcripts.ts';
import { charge, upgradeByLink } from '../../../tests/harness/upgrades.ts';
import { postPdf } from '../../../tests/harness/uploads.ts';
import { refundJoin } from '../paying/refunds/refundJoin.ts';
import { applyRetention } from '../people/privacy/retention.ts';
import { proofJoin } from './proofJoin.ts';
import { waitingTranscripts } from './review.ts';

const server = await sharedServer();
const { accept, lettersTo, reject, upload, uploaded } = transcriptsOn(server);

test('what a join has uploaded is listed for its own browser, and for nobody else who knows its id', async () => {
  const { client, uuid } = await uploaded();
  await upload(client, uuid, 'second.pdf');
  const own = await client.call('getDocuments', { params: { uuid } });
  const size = pdf().length;
  assert.deepEqual(own.data, {
    documents: [
      { name: 'transcript.pdf', size },
      { name: 'second.pdf', size },
    ],
    rejection: null,
    hasEnded: false,
  });
  const other = await server.client().call('getDocuments', { params: { uuid } });
  assert.equal(other.status, 404);
});

test('a transcript that retention has removed is listed no more, and the ones beside it are', async (t) => {
  const { client, uuid } = await uploaded();
  await accept(t, uuid);
  await sql`update document set reviewed_at = now() - interval '2 days' where session_uuid = ${uuid}`.execute(
    server.deps.database,
  );
  await upload(client, uuid, 'second.pdf');
  changeSociety(t, server, (source) => `${source}\nretention:\n  documentsDays: 1\n`);
  assert.equal((await applyRetention(server.deps)).documents, 1);
  const { data } = await client.call('getDocuments', { params: { uuid } });
  assert.deepEqual(
    data.documents.map(({ name }) => name),
    ['second.pdf'],
  );
});

test('documents of a join that is not paid are 409, of none 404', async () => {
  const client = server.client();
  const started = await client.call('initiateSchoolJoin', { body: { invitationCode: 'LINCOLN2026' } });
  const { uuid } = started.data;
  assert.equal((await client.call('getDocuments', { params: { uuid } })).status, 409);
  const nobody = { uuid: '00000000-0000-4000-8000-000000000000' };
  assert.equal((await client.call('getDocuments', { params: nobody })).status, 404);
});

test('proof is due 30 days after paying, for who owes it and has none that was not rejected', async (t) => {
  const paidAgo = async (
    days: number,
    origin: string,
    act?: (uuid: string, client: Client) => Promise<unknown>,
  ) => {
    const client = server.client();
    const { uuid } = await paidJoin(server, client);
    await act?.(uuid, client);
    await sql`update join_session set origin = ${origin}, paid_at = now() - make_interval(days => ${days})
      where uuid = ${uuid}`.execute(server.deps.database);
    return uuid;
  };
  const uploadAndReject = async (uuid: string, client: Client) => {
    await upload(client, uuid);
    await reject(t, uuid, 'unreadable');
  };
  const due = [await paidAgo(31, 'self_nomination'), await paidAgo(40, 'self_nomination', uploadAndReject)];
  const others = [
    await paidAgo(29, 'self_nomination'),
    await paidAgo(31, 'school'),
    await paidAgo(31, 'self_nomination', (uuid, client) => upload(client, uuid)),
    await paidAgo(31, 'self_nomination', (uuid) => refundJoin(server.deps, uuid, membershipOnly)),
  ];
  const { out } = await runCommand(t, server, 'documents due', []);
  for (const uuid of due)
    assert.match(out, new RegExp(`^${uuid} {2}joined [\\d-]+ {2}Jordan Rivera {2}\\S+@\\S+$`, 'm'));
  for (const uuid of others) assert.doesNotMatch(out, new RegExp(uuid));
  assert.ok(out.indexOf(due[1]!) < out.indexOf(due[0]!), 'who paid first comes first');
});

test("a contact's resumes are shown by its id", async (t) => {
  const sent = await postPdf(server.client(), pathOf('uploadResume'), {
    contactId: '102',
    name: 'resume.pdf',
  });
  assert.equal(sent.status, 200);
  const { out, code } = await runCommand(t, server, 'documents show', ['102']);
  assert.equal(code, 0);
  assert.match(out, /^[\da-f-]{36} {2}[\d-]+ {2}resume\n {2}resume\.pdf \(application\/pdf, /);
  const none = await runCommand(t, server, 'documents show', ['103']);
  assert.deepEqual([none.code, none.out], [1, 'Induct knows no contact 103.\n']);
});

test('a document is fetched byte for byte, and never over another file', async (t) => {
  const folder = temporaryFolder(t);
  const { uuid } = await uploaded();
  const { id } = await server.deps.database
    .selectFrom('document')
    .select('id')
    .where('session_uuid', '=', uuid)
    .executeTakeFirstOrThrow();
  const path = join(folder, 'fetched.pdf');
  assert.equal((await runCommand(t, server, 'documents fetch', [id, path])).code, 0);
  assert.deepEqual(readFileSync(path), pdf());
  assert.equal((await runCommand(t, server, 'documents fetch', [id, path])).code, 1);
  assert.equal((await runCommand(t, server, 'documents fetch', [uuid, `${path}2`])).code, 1);
});

/** The sentence that staff read if they decide on a join whose membership has ended. */
const over = (uuid: string) =>
  `The membership of join ${uuid} has ended, so there is nothing to decide about its transcripts.\n`;

test('of a membership that was refunded no transcript is to be decided, and no decision is made or told', async (t) => {
  const client = server.client();
  const personalEmail = 'refunded.undecided@example.com';
  const { uuid } = await paidJoin(server, client, 'LINCOLN2026', { personalEmail });
  await upload(client, uuid);
  const listed = async () => (await runCommand(t, server, 'documents list', [])).out.includes(uuid);
  assert.equal(await listed(), true);
  await refundJoin(server.deps, uuid, membershipOnly);
  assert.equal(await listed(), false);
  const refused = { code: 1, out: over(uuid) };
  assert.deepEqual(await accept(t, uuid), refused);
  for (const more of [[], ['--dry-run'], ['--final', '--dry-run'], ['--final']])
    assert.deepEqual(await reject(t, uuid, 'below-requirement', ...more), refused, more.join());
  const { rejection } = (await client.call('getDocuments', { params: { uuid } })).data;
  assert.equal(rejection, null);
  assert.deepEqual(await lettersTo(personalEmail), []);
});

test('a decision whose letter was not sent before the membership was refunded is not told', async (t) => {
  for (const decide of [accept, (t: TestContext, uuid: string) => reject(t, uuid, 'unreadable')]) {
    const client = server.client();
    const personalEmail = `refunded.after.${decide.name}@example.com`;
    const { uuid } = await paidJoin(server, client, 'LINCOLN2026', { personalEmail });
    await upload(client, uuid);
    assert.equal((await decide(t, uuid)).code, 0);
    await refundJoin(server.deps, uuid, membershipOnly);
    assert.deepEqual(await lettersTo(personalEmail), []);
  }
});

test('whose membership was refunded after a rejection is asked for no other transcript, and again once the refund has failed', async (t) => {
  const { client, uuid, intentId } = await undergraduate(server);
  assert.equal(await upload(client, uuid), 200);
  assert.equal((await reject(t, uuid, 'unreadable')).code, 0);
  const asks = async () => {
    const { rejection, hasEnded } = (await client.call('getDocuments', { params: { uuid } })).data;
    const welcome = (await client.call('getWelcome', { params: { uuid } })).data;
    return [rejection?.message ?? null, hasEnded, welcome.rejection, welcome.owesTranscript];
  };
  const asked = [rejectionReasons.unreadable, false, rejectionReasons.unreadable, true];
  assert.deepEqual(await asks(), asked);
  await refundJoin(server.deps, uuid, membershipOnly);
  assert.deepEqual(await asks(), [null, true, null, false]);
  await failRefund(server, intentId);
  assert.deepEqual(await asks(), asked);
});

test('a transcript of a membership whose refund has failed is to be decided again', async (t) => {
  const client = server.client();
  const { uuid, intentId } = await paidJoin(server, client);
  await upload(client, uuid);
  await refundJoin(server.deps, uuid, membershipOnly);
  await failRefund(server, intentId);
  assert.match((await runCommand(t, server, 'documents list', [])).out, new RegExp(uuid));
  assert.equal((await accept(t, uuid)).code, 0);
});

test('a transcript of an upgrade by link whose base was not bought here is decided while the upgrade is held', async (t) => {
  const { database } = server.deps;
  await database
    .insertInto('person')
    .values({ contact_id: '7311', profile: '{}', is_member: true })
    .execute();
  const { client, uuid } = await upgradeByLink(server, '7311');
  await upload(client, uuid);
  assert.match((await runCommand(t, server, 'documents list', [])).out, new RegExp(uuid));
  assert.equal((await accept(t, uuid)).code, 0);
  await upload(client, uuid, 'second.pdf');
  await refundJoin(server.deps, uuid, { ...everything, membership: false });
  assert.doesNotMatch((await runCommand(t, server, 'documents list', [])).out, new RegExp(uuid));
  assert.deepEqual(await accept(t, uuid), { code: 1, out: over(uuid) });
});

test('a self-nominator is not sent to upload once the membership was refunded', async () => {
  const { client, uuid } = await undergraduate(server);
  const goesOn = async () => (await client.call('getUpgradeDetails', { params: { uuid } })).data.goOn;
  assert.equal(await goesOn(), '/registration/upload-transcript');
  await refundJoin(server.deps, uuid, membershipOnly);
  assert.equal(await goesOn(), '/registration/congratulations');
});

test('whose membership was refunded while the upgrade stays is sent to no upload, and no transcript of theirs is to be decided', async (t) => {
  const { client, uuid, intentId } = await undergraduate(server);
  assert.equal((await charge(client, uuid, intentId)).data.status, 'succeeded');
  const params = { uuid };
  const goesOn = async () => (await client.call('getUpgradeDetails', { params })).data.goOn;
  const listed = async () => (await waitingTranscripts(server.deps)).some((join) => join.uuid === uuid);
  const owes = async () => (await client.call('getWelcome', { params })).data.owesTranscript;
  await refundJoin(server.deps, uuid, membershipOnly);
  assert.deepEqual([await goesOn(), await owes()], ['/registration/congratulations', false]);
  await failRefund(server, intentId);
  assert.deepEqual([await goesOn(), await owes()], ['/registration/upload-transcript', true]);
  assert.equal(await upload(client, uuid), 200);
  assert.equal(await listed(), true);
  await refundJoin(server.deps, uuid, membershipOnly);
  assert.equal(await listed(), false);
  assert.equal((await client.call('getDocuments', { params })).data.hasEnded, true);
  assert.deepEqual(await accept(t, uuid), { code: 1, out: over(uuid) });
});

test('the proof of an upgrade by link is owed by the join that bought its base, and by none whose payment came to nothing', async () => {
  const { database } = server.deps;
  const base = await paidJoin(server, server.client(), 'HONOR104');
  const upgrade = await upgradeByLink(server, '104');
  const later = await paidJoin(server, server.client());
  const stranger = await paidJoin(server, server.client(), 'HONOR102');
  await sql`update membership set standing = 'refunded' where session_uuid = ${base.uuid}`.execute(database);
  await sql`update person set is_member = false where contact_id = '104'`.execute(database);
  await sql`update join_session set person_id = (select id from person where contact_id = '104') where uuid = ${later.uuid}`.execute(
    database,
  );
  const proofOfUpgradeWhen = async (bySession: string, standing: string) => {
    await sql`
      update membership set session_uuid = ${bySession}, standing = ${standing}, person_id = (select id from person where contact_id = '104')
      where payment_intent = ${later.intentId}`.execute(database);
    return proofJoin(database, upgrade.uuid);
  };
  assert.equal(await proofOfUpgradeWhen(later.uuid, 'refunded'), later.uuid, 'the last one that was bought');
  assert.equal(await proofOfUpgradeWhen(later.uuid, 'void'), base.uuid);
  assert.equal(await proofOfUpgradeWhen(upgrade.uuid, 'void'), base.uuid, 'nor by its own join');
  assert.equal(await proofJoin(database, stranger.uuid), stranger.uuid);
});

test('the upload page of an upgrade by link says that it is over when its base has ended, and not when the upgrade has', async () => {
  const hasEnded = async ({ client, uuid }: Awaited<ReturnType<typeof upgradeByLink>>) =>
    (await client.call('getDocuments', { params: { uuid } })).data.hasEnded;
  await paidJoin(server, server.client(), 'HONOR103');
  const givenBack = await upgradeByLink(server, '103');
  await refundJoin(server.deps, givenBack.uuid, { ...membershipOnly, membership: false, upgrade: true });
  assert.equal(await hasEnded(givenBack), false);

  const base = await paidJoin(server, server.client(), 'HONOR101');
  const held = await upgradeByLink(server, '101');
  await refundJoin(server.deps, base.uuid, membershipOnly);
  assert.equal(await hasEnded(held), true);
});

async function paid(): Promise<{ client: Client; uuid: string }> {
  const client = server.client();
  const { uuid } = await paidJoin(server, client);
  return { client, uuid };
}

async function linkFor(client: Client, uuid: string): Promise<string> {
  const { data } = await client.call('createUploadLink', { params: { uuid } });
  return data.path.split('/').at(-1)!;
}

/** Uploads a document with an upload link, from a device that does not hold the join. */
async function uploadBy(token: string, bytes = pdf(), name = 'photo.pdf') {
  const response = await postPdf(server.client(), pathOf('uploadByLink', { token }), { bytes, name });
  return { status: response.status, body: (await response.json()) as { message?: string } };
}

test('a phone uploads for a join by its link, and the join has the file', async () => {
  const { client, uuid } = await paid();
  const token = await linkFor(client, uuid);
  assert.equal((await uploadBy(token)).status, 200);
  assert.equal((await uploadBy(token, pdf(), 'page 2.pdf')).status, 200);
  const { documents } = (await client.call('getDocuments', { params: { uuid } })).data;
  assert.deepEqual(
    documents.map(({ name }) => name),
    ['photo.pdf', 'page 2.pdf'],
  );
});

test('what a link tells of its join is nothing, and the token is kept nowhere', async () => {
  const { client, uuid } = await paid();
  const { data } = await client.call('createUploadLink', { params: { uuid } });
  const token = data.path.split('/').at(-1)!;
  assert.match(data.path, /^\/upload\/[\w-]{22}$/);
  const told = await server.client().call('getUploadLink', { params: { token } });
  assert.deepEqual(told.data, { expiresAt: data.expiresAt });
  const lasts = Date.parse(data.expiresAt) - Date.now();
  assert.ok(Math.abs(lasts - 3_600_000) < 60_000, `${lasts} ms`);
  const kept = await server.deps.database.selectFrom('upload_link').selectAll().execute();
  assert.ok(kept.some((row) => row.token_hash.equals(createHash('sha256').update(token).digest())));
  assert.ok(!JSON.stringify(kept).includes(token));
});

test('a link that is over, and one that never was, answer alike, and take nothing', async () => {
  const { client, uuid } = await paid();
  const token = await linkFor(client, uuid);
  await sql`update upload_link set expires_at = now() where session_uuid = ${uuid}`.execute(
    server.deps.database,
  );
  for (const one of [token, 'AAAAAAAAAAAAAAAAAAAAAA', 'x']) {
    const told = await client.call('getUploadLink', { params: { token: one } });
    assert.deepEqual([told.status, told.message], [404, UPLOAD_LINK_OVER]);
    const { status, body } = await uploadBy(one);
    assert.deepEqual([status, body.message], [404, UPLOAD_LINK_OVER]);
  }
  assert.deepEqual((await client.call('getDocuments', { params: { uuid } })).data.documents, []);
});

test('a link that is over is forgotten when another one is made', async () => {
  const { client, uuid } = await paid();
  await linkFor(client, uuid);
  await sql`update upload_link set expires_at = now() - interval '1 second' where session_uuid = ${uuid}`.execute(
    server.deps.database,
  );
  await linkFor(client, uuid);
  const { rows } = await sql`select from upload_link where session_uuid = ${uuid}`.execute(
    server.deps.database,
  );
  assert.equal(rows.length, 1);
});

test('what the page would not take, the link does not take either', async () => {
  const { client, uuid } = await paid();
  const { status, body } = await uploadBy(await linkFor(client, uuid), program());
  assert.equal(status, 415);
  assert.match(body.message ?? '', /is a program/);
});

test('before payment there is no link, and of no join there is none', async () => {
  const client = server.client();
  const uuid = await orderingJoin(client);
  assert.equal((await client.call('createUploadLink', { params: { uuid } })).status, 409);
  const nobody = { uuid: '00000000-0000-4000-8000-000000000000' };
  assert.equal((await client.call('createUploadLink', { params: nobody })).status, 404);
});

test('after a final rejection neither a new nor an old link takes anything', async (t) => {
  const { client, uuid } = await paid();
  const token = await linkFor(client, uuid);
  await uploadBy(token);
  await runCommand(t, server, 'documents reject', [uuid, '--reason', 'unreadable', '--final']);
  for (const { status, message } of [
    await client.call('createUploadLink', { params: { uuid } }),
    await client.call('getUploadLink', { params: { token } }),
  ])
    assert.deepEqual([status, message], [409, REJECTED_FINALLY]);
  assert.equal((await uploadBy(token)).status, 409);
});

test('links of a join and uploads by a link are limited', async (t) => {
  const { client, uuid } = await paid();
  limitWith(t, server, { LIMIT_UPLOAD_LINKS_PER_SESSION: '2/60', LIMIT_UPLOADS_PER_LINK: '1/60' });
  const token = await linkFor(client, uuid);
  await linkFor(client, uuid);
  assert.equal((await client.call('createUploadLink', { params: { uuid } })).status, 429);
  assert.equal((await uploadBy(token)).status, 200);
  assert.equal((await uploadBy(token)).status, 429);
});
