import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { sql } from 'kysely';
import { pathOf } from '#contract/calls.ts';
import { REJECTED_FINALLY, REJECTED_WITHOUT_REFUND } from '#documents/document.ts';
import { changeSociety } from '../../../tests/harness/changeSociety.ts';
import { proveByCode } from '../../../tests/harness/joinCalls.ts';
import { lockHolder, waiting } from '../../../tests/harness/locks.ts';
import { personId } from '../../../tests/harness/personId.ts';
import {
  atStripe,
  chargeOf,
  differencesOf,
  failRefund,
  membershipOnly,
  refundsOf,
  standingsOf,
  undergraduate,
} from '../../../tests/harness/refunds.ts';
import { runCommand } from '../../../tests/harness/runCommand.ts';
import { paidJoin, startJoin } from '../../../tests/harness/steps.ts';
import { type Client, sharedServer } from '../../../tests/harness/testServer.ts';
import { charge, upgradeByLink, upgradeIntentOf } from '../../../tests/harness/upgrades.ts';
import { postPdf } from '../../../tests/harness/uploads.ts';
import { compose } from '../letters/compose.ts';
import { readLetter } from '../letters/takeLetter.ts';
import { followPayment } from '../paying/refunds/followPayment.ts';
import { giveBack } from '../paying/refunds/giveBack.ts';
import { refundJoin } from '../paying/refunds/refundJoin.ts';

const server = await sharedServer();

const reject = (t: TestContext, uuid: string, ...more: string[]) =>
  runCommand(t, server, 'documents reject', [uuid, '--reason', 'below-requirement', '--final', ...more]);

async function upload(client: Client, uuid: string): Promise<void> {
  assert.equal((await postPdf(client, pathOf('uploadTranscript', { uuid }))).status, 200);
}

/** Makes a paid join with a transcript. */
async function uploaded(code?: string) {
  const client = server.client();
  const paid = await paidJoin(server, client, code);
  await upload(client, paid.uuid);
  return { client, ...paid };
}

/** Makes a contact with an invite code of its own. Returns the code. */
async function invited(contactId: string): Promise<string> {
  const { database } = server.deps;
  await database.insertInto('person').values({ contact_id: contactId, profile: '{}' }).execute();
  const code = `ANEW${contactId}`;
  await database
    .insertInto('invitation')
    .values({ code, person_id: personId(contactId) })
    .execute();
  return code;
}

async function disputed(intentId: string): Promise<string> {
  const dispute = await server.stripeControl('disputes', { charge: await chargeOf(server, intentId) });
  await followPayment(server.deps, intentId);
  return dispute.id;
}

const rejectionOf = async (client: Client, uuid: string) =>
  (await client.call('getDocuments', { params: { uuid } })).data.rejection;

/** Returns the texts of a join's letters about rejection, as they would be sent now. */
async function rejectionLetters(uuid: string): Promise<string[]> {
  const rows = await server.deps.database
    .selectFrom('letter')
    .select('id')
    .where('session_uuid', '=', uuid)
    .where('kind', '=', 'proof-rejected')
    .execute();
  const letters = await Promise.all(rows.map(({ id }) => readLetter(server.deps, id)));
  return letters.map((letter) => compose(server.deps, letter!, new Date())!.text.replace(/\n/g, ' '));
}

test('a final rejection is refused while the payment is disputed, in a trial as well, and decides nothing', async (t) => {
  const { client, uuid, intentId } = await uploaded();
  const dispute = await disputed(intentId);
  for (const more of [['--dry-run'], []]) {
    const { out, code } = await reject(t, uuid, ...more);
    assert.deepEqual(
      [code, out],
      [
        1,
        `Payment ${intentId} is disputed: its bank has the money, and Stripe refunds nothing of it. Nothing was decided: reject it when the dispute is over.\n`,
      ],
    );
  }
  assert.deepEqual(
    [await rejectionOf(client, uuid), await rejectionLetters(uuid), await refundsOf(server, intentId)],
    [null, [], []],
  );
  // The bank has given the money of a lost dispute to the cardholder, so it must not be refunded as well.
  await server.stripeControl(`disputes/${dispute}/close`, { status: 'lost' });
  await followPayment(server.deps, intentId);
  const { out, code } = await reject(t, uuid);
  assert.deepEqual([code, out.includes(REJECTED_WITHOUT_REFUND)], [0, true]);
  assert.deepEqual(await rejectionOf(client, uuid), { message: REJECTED_WITHOUT_REFUND, isFinal: true });
  const [letter, ...others] = await rejectionLetters(uuid);
  assert.ok(letter!.includes(REJECTED_WITHOUT_REFUND));
  assert.deepEqual(others, []);
});

test('a final rejection is refused while the payment for the upgrade is disputed, since the upgrade would stay', async (t) => {
  const { client, uuid, intentId } = await uploaded();
  assert.equal((await charge(client, uuid, intentId)).data.status, 'succeeded');
  const upgradeIntent = await upgradeIntentOf(server, uuid);
  await disputed(upgradeIntent);
  const { code, out } = await reject(t, uuid);
  assert.equal(code, 1);
  assert.match(out, new RegExp(`^Payment ${upgradeIntent} is disputed: .* Nothing was decided`));
  assert.deepEqual(await standingsOf(server, uuid), [
    { type: 'membership', standing: 'active' },
    { type: 'membership_upgrade', standing: 'disputed' },
  ]);
  assert.equal(await rejectionOf(client, uuid), null);
});

test('where a lost dispute took a part, staff say what for, and then reject finally', async (t) => {
  const { client, uuid, intentId } = await uploaded();
  const { id } = await server.stripeControl('disputes', {
    charge: await chargeOf(server, intentId),
    amount: 3000,
  });
  await server.stripeControl(`disputes/${id}/close`, { status: 'lost' });
  await followPayment(server.deps, intentId);
  const refused = await reject(t, uuid);
  assert.equal(refused.code, 1);
  assert.match(
    refused.out,
    new RegExp(`^A dispute over payment ${intentId} was lost, .* nothing was decided`),
  );
  const [, refund] = / refund assign (\S+)$/m.exec(refused.out)!;
  const assigned = await runCommand(t, server, 'refund assign', [refund!, '--membership']);
  assert.equal(assigned.code, 0, assigned.out);
  assert.deepEqual(await standingsOf(server, uuid), [{ type: 'membership', standing: 'charged_back' }]);
  assert.equal((await reject(t, uuid)).code, 0);
  assert.deepEqual(await rejectionOf(client, uuid), { message: REJECTED_WITHOUT_REFUND, isFinal: true });
  assert.deepEqual(await differencesOf(server, uuid, intentId), []);
});

test('where a refund in the dashboard did not say what for and left less than the fee, staff say it, and then reject finally', async (t) => {
  const { client, uuid, intentId } = await undergraduate(server);
  await upload(client, uuid);
  // Refunds the pin ($12.00), and $92.00 of the membership ($95.00). What remains, $3.00, is not the processing fee of the
  // programme.
  for (const amount of ['1200', '9200']) {
    await server.stripe('POST', '/v1/refunds', { payment_intent: intentId, amount });
    await followPayment(server.deps, intentId);
  }
  const refused = await reject(t, uuid);
  assert.equal(refused.code, 1);
  assert.match(
    refused.out,
    new RegExp(`^\\$92\\.00 of payment ${intentId} went back .* nothing was decided`),
  );
  const [, refund] = / refund assign (\S+)$/m.exec(refused.out)!;
  const assign = async (what: string) =>
    assert.equal((await runCommand(t, server, 'refund assign', [refund!, what])).code, 0);
  await assign('--none');
  const { out } = await reject(t, uuid);
  assert.match(out, /nothing can go back, since what is left .* no more than the processing fee/);
  await assign('--membership');
  assert.equal((await reject(t, uuid)).code, 0);
  assert.deepEqual(await standingsOf(server, uuid), [{ type: 'membership', standing: 'refunded' }]);
  assert.deepEqual((await atStripe(server, intentId)).sort(), [1200, 9200], 'what was kept stays kept');
});

test('a final rejection is refused when the fee leaves nothing to give back, so that the membership would stay', async (t) => {
  changeSociety(t, server, (source) => source.replace(/processingFee: "0.00"/, 'processingFee: "65.00"'));
  const { client, uuid, intentId } = await uploaded();
  for (const more of [['--dry-run'], []]) {
    const { out, code } = await reject(t, uuid, ...more);
    assert.equal(code, 1);
    assert.match(out, new RegExp(`^Of payment ${intentId} nothing can go back, .* refund ${uuid}\n$`));
  }
  assert.equal(await rejectionOf(client, uuid), null);
});

test('while Stripe makes no refund, a final rejection is decided whole: rejected, ended, and the refund due', async (t) => {
  const { client, uuid, intentId } = await uploaded();
  await server.stripeFault({ kind: 'status', status: 500, method: 'POST', path: '/v1/refunds', times: 9 });
  const { out, code } = await reject(t, uuid);
  await server.stripeFault(null);
  assert.equal(code, 0);
  assert.match(out, /^\$65\.00 stays due, and is tried again\.\n\$0\.00 of \$65\.00 goes back\.\n$/m);
  assert.deepEqual(await rejectionOf(client, uuid), { message: REJECTED_FINALLY, isFinal: true });
  assert.deepEqual(
    [await refundsOf(server, intentId), await standingsOf(server, uuid)],
    [
      [{ reason: 'ineligible', status: 'due', amount_cents: 6500 }],
      [{ type: 'membership', standing: 'refunded' }],
    ],
  );
  await giveBack(server.deps, intentId);
  assert.equal((await refundsOf(server, intentId))[0]?.status, 'succeeded');
});

test('a letter of a final rejection does not say that money went back when Stripe has refused the refund since', async (t) => {
  const { client, uuid, intentId } = await uploaded();
  // Buys the upgrade. Its refund succeeds; only the refund of the membership fails later.
  assert.equal((await charge(client, uuid, intentId)).data.status, 'succeeded');
  assert.equal((await reject(t, uuid)).code, 0);
  const [before] = await rejectionLetters(uuid);
  assert.ok(before!.includes(REJECTED_FINALLY));
  const [refund] = await server.deps.database
    .selectFrom('refund')
    .select('stripe_id')
    .where('intent_id', '=', intentId)
    .execute();
  await server.stripeControl(`refunds/${refund!.stripe_id}/settle`, { status: 'failed' });
  await followPayment(server.deps, intentId);
  const [after] = await rejectionLetters(uuid);
  assert.ok(after!.includes(REJECTED_WITHOUT_REFUND));
  assert.equal((await rejectionOf(client, uuid))?.message, REJECTED_WITHOUT_REFUND);
});

test('an upgrade that staff allowed after a final rejection says nothing of that', async (t) => {
  const { database } = server.deps;
  const { uuid } = await uploaded(await invited('7302'));
  assert.equal((await reject(t, uuid)).code, 0);
  // Simulates that staff have made the contact a member in HubSpot, and that the mirror has read this.
  await database.updateTable('person').set({ is_member: true }).where('contact_id', '=', '7302').execute();
  const upgrade = await upgradeByLink(server, '7302');
  assert.equal(await rejectionOf(upgrade.client, upgrade.uuid), null);
  await upload(upgrade.client, upgrade.uuid);
});

test('a transcript that arrives while its join is being rejected finally is not kept', async (t) => {
  const { client, uuid } = await uploaded();
  const holder = await lockHolder(t, server);
  await holder.query('select from join_session where uuid = $1 for update', [uuid]);
  const late = postPdf(client, pathOf('uploadTranscript', { uuid }));
  await waiting(holder, 1);
  await holder.query(
    `update document set review = 'rejected', reason = 'below-requirement', is_final = true, reviewed_at = now()
    where session_uuid = $1`,
    [uuid],
  );
  await holder.query('commit');
  const answer = await late;
  assert.deepEqual(
    [answer.status, ((await answer.json()) as { message: string }).message],
    [409, REJECTED_WITHOUT_REFUND],
  );
  const left = await server.deps.database
    .selectFrom('document')
    .select('review')
    .where('session_uuid', '=', uuid)
    .execute();
  assert.deepEqual(left, [{ review: 'rejected' }]);
});

test('an upgrade by link owes no transcript of its own', async (t) => {
  await paidJoin(server, server.client(), 'HONOR101');
  // The undergraduate programme requires a transcript from every joiner.
  const { client, uuid } = await upgradeByLink(server, '101', { productId: 11 });
  const { owesTranscript } = (await client.call('getWelcome', { params: { uuid } })).data;
  assert.equal(owesTranscript, false);
  await server.deps.database
    .updateTable('join_session')
    .set({ paid_at: new Date(Date.now() - 40 * 86_400_000) })
    .where('uuid', '=', uuid)
    .execute();
  assert.doesNotMatch((await runCommand(t, server, 'documents due', [])).out, new RegExp(uuid));
});

test('what is uploaded at an upgrade by link is of its base, and a final rejection decides both, named by either, also again after a failed refund', async (t) => {
  for (const [code, contactId] of [
    ['HONOR102', '102'],
    ['HONOR103', '103'],
  ] as const) {
    const client = server.client();
    const base = await paidJoin(server, client, code);
    const upgrade = await upgradeByLink(server, contactId);
    await upload(upgrade.client, upgrade.uuid);
    assert.equal(await proveByCode(server, upgrade.client, upgrade.uuid), 200);
    const listed = (await runCommand(t, server, 'documents list', [])).out;
    assert.deepEqual(
      [base.uuid, upgrade.uuid].map((uuid) => listed.includes(uuid)),
      [true, false],
    );
    const named = code === 'HONOR102' ? upgrade.uuid : base.uuid;
    const trial = await reject(t, named, '--dry-run');
    assert.match(trial.out, /^\$110\.00 would go back\.$/m);
    const { out, code: status } = await reject(t, named);
    assert.deepEqual([status, /^\$110\.00 goes back\.$/m.test(out)], [0, true]);
    assert.deepEqual(
      [await standingsOf(server, base.uuid), await standingsOf(server, upgrade.uuid)],
      [
        [{ type: 'membership', standing: 'refunded' }],
        [{ type: 'membership_upgrade', standing: 'refunded' }],
      ],
    );
    const [letter] = await rejectionLetters(base.uuid);
    assert.ok(letter!.includes(REJECTED_FINALLY));
    const rejection = { message: REJECTED_FINALLY, isFinal: true };
    assert.deepEqual(await rejectionOf(client, base.uuid), rejection);
    assert.deepEqual(await rejectionOf(upgrade.client, upgrade.uuid), rejection);
    const { call } = upgrade.client;
    assert.equal((await call('createUploadLink', { params: { uuid: upgrade.uuid }, body: {} })).status, 409);
    assert.deepEqual(await rejectionLetters(upgrade.uuid), []);
    await failRefund(server, base.intentId);
    const again = await reject(t, named);
    assert.deepEqual([again.code, /^\$65\.00 goes back\.$/m.test(again.out)], [0, true], again.out);
  }
});

test('a document that was stored with an upgrade by link before is decided with its base', async (t) => {
  const base = await paidJoin(server, server.client(), 'HONOR104');
  const upgrade = await upgradeByLink(server, '104');
  await upload(upgrade.client, upgrade.uuid);
  await server.deps.database
    .updateTable('document')
    .set({ session_uuid: upgrade.uuid })
    .where('session_uuid', '=', base.uuid)
    .execute();
  const { out, code } = await reject(t, upgrade.uuid);
  assert.deepEqual([code, /^\$110\.00 goes back\.$/m.test(out)], [0, true]);
});

test('an upgrade by link stays when a join that its holder had before is rejected, and goes back with its own base', async (t) => {
  const code = await invited('7301');
  const first = await uploaded(code);
  await refundJoin(server.deps, first.uuid, membershipOnly);
  const second = await uploaded(code);
  const upgrade = await upgradeByLink(server, '7301');
  const standing = async () => (await standingsOf(server, upgrade.uuid))[0]?.standing;
  assert.equal((await reject(t, first.uuid)).code, 1, 'its membership went back before');
  assert.equal(await standing(), 'active');
  assert.equal((await reject(t, second.uuid)).code, 0);
  assert.equal(await standing(), 'refunded');
});

test('who begins a join with the code of somebody who was rejected is not told of that', async (t) => {
  const { uuid } = await uploaded('HONOR104');
  assert.equal((await reject(t, uuid)).code, 0);
  const stranger = server.client();
  const params = { uuid: await startJoin(stranger, 'HONOR104') };
  const { status, message } = await stranger.call('createUploadLink', { params });
  assert.deepEqual([status, /eligib/.test(message ?? '')], [409, false]);
});

test('what was uploaded at an upgrade by link is listed there for the member, and shown to staff', async (t) => {
  await paidJoin(server, server.client(), 'HONOR102');
  const { client, uuid } = await upgradeByLink(server, '102');
  await postPdf(client, pathOf('uploadTranscript', { uuid }));
  assert.equal(await proveByCode(server, client, uuid), 200);
  assert.equal((await client.call('getDocuments', { params: { uuid } })).data.documents.length, 1);
  const shown = await runCommand(t, server, 'documents show', [uuid]);
  assert.deepEqual([shown.code, shown.out.match(/application\/pdf/g)?.length], [0, 1]);
});

test('who is rejected finally and holds another membership under the same name and email is told to staff, but for one that ended', async (t) => {
  const person = { personalEmail: 'rejected.twice@example.com' };
  const ended = await paidJoin(server, server.client(), 'LINCOLN2026', person);
  await refundJoin(server.deps, ended.uuid, membershipOnly);
  const { uuid: other } = await paidJoin(server, server.client(), 'LINCOLN2026', person);
  const client = server.client();
  const { uuid } = await paidJoin(server, client, 'LINCOLN2026', person);
  await upload(client, uuid);
  const { out } = await reject(t, uuid);
  assert.match(
    out,
    new RegExp(`hold a membership by join ${other}\\. .* operator -- refund ${other} --ineligible`),
  );
});

test('a final rejection knows what the dashboard gave back of an upgrade by link, though no event told of it', async (t) => {
  const { uuid } = await uploaded('HONOR104');
  const donation = '0b6f2f0e-58f1-4d38-9a4e-3f5a9f1f0021';
  const framedCertificate = '0b6f2f0e-58f1-4d38-9a4e-3f5a9f1f0032';
  const { intentId } = await upgradeByLink(server, '104', { items: [donation, framedCertificate] });
  await server.stripe('POST', '/v1/refunds', { payment_intent: intentId, amount: '4500' });
  assert.equal((await reject(t, uuid)).code, 0);
  assert.deepEqual(await atStripe(server, intentId), [4500]);
});

test('a final rejection gives the membership back, and takes nothing more', async (t) => {
  const { client, uuid } = await uploaded();
  const { out, code } = await reject(t, uuid);
  assert.equal(code, 0);
  assert.ok(out.includes(REJECTED_FINALLY));
  assert.match(out, /^\$65(\.00)? goes back\.$/m);
  assert.equal((await postPdf(client, pathOf('uploadTranscript', { uuid }))).status, 409);
  const { data } = await client.call('getDocuments', { params: { uuid } });
  assert.deepEqual(data, {
    documents: [],
    rejection: { message: REJECTED_FINALLY, isFinal: true },
    hasEnded: true,
  });
  assert.equal((await client.call('getWelcome', { params: { uuid } })).data.rejection, REJECTED_FINALLY);
  assert.match((await reject(t, uuid)).out, /nothing of what was asked for is left to refund/);
  const { rows } = await sql<{ cents: number }>`
    select sum(refunded_cents)::int as cents from payment where session_uuid = ${uuid}`.execute(
    server.deps.database,
  );
  assert.equal(rows[0]!.cents, 6500);
});

/** Makes a paid join with a transcript and an upgrade. */
async function upgraded(code?: string) {
  const paid = await uploaded(code);
  assert.equal((await charge(paid.client, paid.uuid, paid.intentId)).data.status, 'succeeded');
  return paid;
}
const money = async (uuid: string) =>
  (
    await sql<{ standing: string; cents: number }>`
      select standing, refunded_cents as cents from payment join membership on payment_intent = intent_id
      where payment.session_uuid = ${uuid} order by kind`.execute(server.deps.database)
  ).rows.map(({ standing, cents }) => [standing, cents]);

test('a final rejection gives the upgrade back in full, and nobody who is not eligible keeps it', async (t) => {
  const { uuid } = await upgraded();
  const { out, code } = await reject(t, uuid);
  assert.equal(code, 0);
  assert.match(
    out,
    /^\$65\.00 {2}Membership .*\n\$45\.00 {2}Distinguished Member .*\n\$110\.00 goes back\.$/m,
  );
  assert.deepEqual(await money(uuid), [
    ['refunded', 6500],
    ['refunded', 4500],
  ]);
  const { rows } =
    await sql`select from staff_notice where session_uuid = ${uuid} and kind = 'upgrade_alone'`.execute(
      server.deps.database,
    );
  assert.equal(rows.length, 0, 'nobody is sent to do what is done');
});

test('a trial of a final rejection says what the real one does, and decides nothing', async (t) => {
  const { client, uuid, intentId } = await upgraded();
  const trial = await reject(t, uuid, '--dry-run');
  assert.equal(trial.code, 0);
  const untouched = await client.call('getDocuments', { params: { uuid } });
  assert.deepEqual([untouched.data.documents.length, untouched.data.rejection], [1, null]);
  assert.deepEqual(await money(uuid), [
    ['active', 0],
    ['active', 0],
  ]);
  const lines = (text: string) => text.split('\n').filter((line) => line.startsWith('$'));
  const real = await reject(t, uuid);
  assert.deepEqual(
    lines(trial.out),
    lines(real.out).map((line) => line.replace('goes back', 'would go back')),
  );
  assert.match(
    trial.out,
    new RegExp(`1 document would be rejected\\.\nThe applicant would read: [\\s\\S]*${intentId}`),
  );
  const other = await uploaded();
  const mild = await runCommand(t, server, 'documents reject', [
    other.uuid,
    '--reason',
    'unreadable',
    '--dry-run',
  ]);
  assert.match(mild.out, /^1 document would be rejected\.\nThe applicant would read: [^\n]+\n$/);
});

test('a final rejection keeps the fee of who came by a code of their own and bought the upgrade', async (t) => {
  changeSociety(t, server, (source) => source.replace(/processingFee: "0.00"/, 'processingFee: "7.00"'));
  const { uuid } = await upgraded(await invited('7303'));
  assert.equal((await reject(t, uuid)).code, 0);
  assert.deepEqual(await money(uuid), [
    ['refunded', 5800],
    ['refunded', 4500],
  ]);
});

test('a final rejection knows what was given back in the dashboard, and decides nothing while Stripe does not say', async (t) => {
  const { client, uuid, intentId } = await upgraded();
  await server.stripeFault({ kind: 'status', status: 500, method: 'GET', path: '/v1/refunds', times: 9 });
  const down = await reject(t, uuid);
  await server.stripeFault(null);
  assert.deepEqual([down.code, /Stripe does not answer/.test(down.out)], [1, true]);
  assert.equal((await client.call('getDocuments', { params: { uuid } })).data.rejection, null);
  await server.stripe('POST', '/v1/refunds', { payment_intent: intentId });
  const { out } = await reject(t, uuid);
  assert.match(out, /Membership has already been refunded\.\n\$45\.00 goes back\.\n$/);
});
