import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { simpleParser } from 'mailparser';
import { parse, stringify } from 'yaml';
import type { LetterKind } from '#core/letterKinds.ts';
import { changeSociety } from '../../../tests/harness/changeSociety.ts';
import { newContact } from '../../../tests/harness/deliver.ts';
import {
  atStripe,
  chargeOf,
  membershipOnly,
  refundInDashboard,
  refundsOf,
  settleRefund,
  undergraduate,
} from '../../../tests/harness/refunds.ts';
import { noticesOf } from '../../../tests/harness/rows.ts';
import { runCommand } from '../../../tests/harness/runCommand.ts';
import {
  beginPayment,
  details,
  newIntent,
  newMember,
  newOrder,
  openIntent,
  orderingJoin,
  paidJoin,
  payByCard,
  payOrder,
  reportPayment,
  secondLater,
  startJoin,
} from '../../../tests/harness/steps.ts';
import { type Client, sharedServer, type TestServer } from '../../../tests/harness/testServer.ts';
import { charge, idOf, upgradeByLink } from '../../../tests/harness/upgrades.ts';
import { postPdf } from '../../../tests/harness/uploads.ts';
import { sweepPayments } from '../books/sweep.ts';
import { rejectFinally } from '../documents/rejectFinally.ts';
import { NothingToDecide, reviewTranscripts } from '../documents/review.ts';
import { confirmPayment } from '../paying/confirmPayment.ts';
import { lookAtPayment } from '../paying/lookAtPayment.ts';
import { followPayment } from '../paying/refunds/followPayment.ts';
import { refundJoin } from '../paying/refunds/refundJoin.ts';
import { settlePaying } from '../paying/settlePaying.ts';
import { compose } from './compose.ts';
import { sendDue } from './sendLetters.ts';
import { holds, readLetter } from './takeLetter.ts';

const server = await sharedServer({}, { searchLagMs: 0 });

/**
 * Returns a join's letters, except reminders, as texts: the kind, the occasion without the payment's id, and in how many days the
 * letter is due.
 */
async function lettersOf(uuid: string, { deps }: TestServer = server): Promise<string[]> {
  const { rows } = await sql<{ letter: string }>`
    select kind || regexp_replace(occasion, '^[^ ]+( \\d{4}-[^ ]+)?', '') || ' +' || round(extract(epoch from due_at - now()) / 86400) as letter
    from letter where session_uuid = ${uuid} and kind not like 'reminder%' order by due_at, kind`.execute(
    deps.database,
  );
  return rows.map(({ letter }) => letter);
}

/** Returns the text of a join's letter as it would be sent now. */
async function textOf(uuid: string, kind: LetterKind): Promise<string> {
  const { id } = await server.deps.database
    .selectFrom('letter')
    .select('id')
    .where('session_uuid', '=', uuid)
    .where('kind', '=', kind)
    .executeTakeFirstOrThrow();
  const letter = (await readLetter(server.deps, id))!;
  assert.ok(holds(letter, new Date()));
  return compose(server.deps, letter, new Date())!.text.replace(/\s+/g, ' ');
}

test('a payment that is confirmed again and again makes its letters due once, by whoever confirms it first', async () => {
  const { uuid, intentId } = await newMember(server);
  await Promise.all([1, 2, 3].map(() => confirmPayment(server.deps, intentId)));
  assert.deepEqual(await lettersOf(uuid), ['confirmation +0', 'certificate +1', 'portal +7']);
});

test('the transcript is asked of who nominated themselves, and in a programme that requires it of the invited, too', async () => {
  const begun = {
    'a self-nomination, where others owe none': async (client: Client) =>
      client.call('initiateSelfNomination', { body: { hasConfirmedEligibility: true, isTOLA: true } }),
    'an invited member, where all owe it': async (client: Client) => {
      await client.call('checkEligibility', { body: { invitationCode: 'HONOR104' } });
      const body = { contactId: '104', invitationCode: 'HONOR104', isTOLA: false };
      return client.call('initiateJoin', { body });
    },
  };
  for (const [who, begin] of Object.entries(begun)) {
    const client = server.client();
    const { uuid } = (await begin(client)).data;
    await client.call('submitDetails', { params: { uuid }, body: details() });
    const membershipId = who.startsWith('a self') ? 1 : 3;
    await client.call('setMembership', { params: { uuid }, body: { membershipId } });
    await payOrder(server, client, uuid);
    assert.deepEqual(
      (await lettersOf(uuid)).filter((letter) => letter.startsWith('proof-due')),
      ['proof-due 14 +16', 'proof-due 5 +25', 'proof-due 1 +29'],
      who,
    );
  }
});

test('the letters about the certificate and the portal are due on the days that the society says', async (t) => {
  changeSociety(t, server, (source) =>
    source
      .replace('certificateAfterDays: 1', 'certificateAfterDays: 3')
      .replace('portalAfterDays: 7', 'portalAfterDays: 12'),
  );
  const { uuid } = await newMember(server);
  assert.deepEqual(await lettersOf(uuid), ['confirmation +0', 'certificate +3', 'portal +12']);
});

test('a payment that bought nothing is told as one that goes back, and its refund is not told again', async () => {
  const { client, uuid } = await newOrder(server);
  const { id } = await openIntent(client, uuid);
  await payByCard(server, id);
  await sql`update payment set intent_id = 'pi_other', status = 'succeeded' where intent_id = ${id}`.execute(
    server.deps.database,
  );
  assert.equal(await confirmPayment(server.deps, id), 'refunded');
  assert.deepEqual(await lettersOf(uuid), ['second-payment +0']);
});

test('an upgrade that is paid after its membership went back is not told as one that its payer has', async () => {
  const { client, uuid, intentId } = await newMember(server);
  const { data } = await charge(client, uuid, intentId, { charge: false });
  await refundJoin(server.deps, uuid, membershipOnly);
  await payByCard(server, idOf(data.clientSecret));
  assert.equal(await confirmPayment(server.deps, idOf(data.clientSecret)), 'refunded');
  const text = await textOf(uuid, 'second-payment');
  assert.doesNotMatch(text, /already|stays as it is/);
  assert.match(text, /the Distinguished Member upgrade of a membership that has ended/);
});

test('a second upgrade is told as one that its payer has, be it by another join of the same person', async () => {
  const { client, uuid, intentId } = await newMember(server, 'HONOR101');
  const { data } = await charge(client, uuid, intentId, { charge: false });
  await upgradeByLink(server, '101');
  await payByCard(server, idOf(data.clientSecret));
  assert.equal(await confirmPayment(server.deps, idOf(data.clientSecret)), 'refunded');
  const text = await textOf(uuid, 'second-payment');
  assert.match(text, /you already have: Distinguished Member upgrade\. That stays as it is/);
  assert.doesNotMatch(text, /ended/);
});

test('a second membership is told as the one that its payer has, and not as the one that was paid for', async () => {
  await newContact(server, 'second@example.com', { invitation_code: 'SECOND01' });
  const client = server.client();
  const uuid = await startJoin(client, 'SECOND01');
  await client.call('submitDetails', { params: { uuid }, body: details() });
  await client.call('setMembership', { params: { uuid }, body: { membershipId: 2 } });
  const { id } = await openIntent(client, uuid);
  await newMember(server, 'SECOND01');
  await payByCard(server, id);
  assert.equal(await confirmPayment(server.deps, id), 'refunded');
  assert.match(await textOf(uuid, 'second-payment'), /you already have: Membership\. That stays as it is/);
});

test('an upgrade by link tells the fee that is kept of its membership, not the one of its own day', async (t) => {
  const base = await upgradeByLink(server, '103', { productId: 3 });
  changeSociety(t, server, (source) => {
    const file = parse(source);
    file.programmes.undergraduate.processingFee = '20.00';
    return stringify(file);
  });
  const client = server.client();
  const body = { hubspotContactId: '103', mainProductId: 11 };
  const params = { uuid: (await client.call('initiateCheckout', { body })).data.joinSessionUuid };
  const { refundNote } = (await client.call('getCheckoutDetails', { params })).data;
  const { uuid } = await upgradeByLink(server, '103', { productId: 11 });
  const plan = await refundJoin(
    server.deps,
    base.uuid,
    { ...membershipOnly, ineligible: true },
    { isTrial: true },
  );
  assert.deepEqual(
    plan.refunds.map(({ amountCents }) => amountCents),
    [9000],
  );
  assert.match(await textOf(uuid, 'upgrade'), /membership fee less a \$5 processing fee/);
  assert.match(refundNote, /less a \$5 processing fee/, 'Checkout tells it, too');
});

test('each refund that Stripe has made is told once, wherever it was made', async () => {
  const { uuid, intentId } = await undergraduate(server);
  const refunds = async () => (await lettersOf(uuid)).filter((letter) => letter.startsWith('refund'));
  await refundJoin(server.deps, uuid, { membership: true, ineligible: true, upgrade: false, items: 'none' });
  assert.deepEqual(await refunds(), ['refund +0']);
  await refundInDashboard(server, intentId, 500);
  await followPayment(server.deps, intentId);
  assert.deepEqual(await refunds(), ['refund +0', 'refund +0']);
});

test('a refund is told when it is made, and not while the bank has yet to make it', async () => {
  const [ours, elsewhere] = [await undergraduate(server), await undergraduate(server)];
  await server.stripeControl('refunds', { answer: 'pending' });
  await refundJoin(server.deps, ours.uuid, membershipOnly);
  await server.stripe('POST', '/v1/refunds', { payment_intent: elsewhere.intentId });
  await server.stripeControl('refunds', { answer: 'succeeded' });
  for (const { uuid, intentId } of [ours, elsewhere]) {
    const told = async () => (await lettersOf(uuid)).filter((letter) => letter.startsWith('refund'));
    await followPayment(server.deps, intentId);
    assert.deepEqual(await told(), []);
    await settleRefund(server, intentId, 'succeeded');
    assert.deepEqual(await told(), ['refund +0']);
  }
});

test('a decision on a transcript of two pages is told once, and a final one again', async () => {
  const { uuid } = await undergraduate(server);
  for (const page of [1, 2])
    await server.deps.database
      .insertInto('document')
      .values({
        id: crypto.randomUUID(),
        kind: 'transcript',
        session_uuid: uuid,
        name: `page ${page}.pdf`,
        media_type: 'application/pdf',
        size_bytes: 1,
        sha256: Buffer.alloc(32),
        storage_key: `none ${page}`,
      })
      .execute();
  const decisions = async () => (await lettersOf(uuid)).filter((letter) => /^proof-(acc|rej)/.test(letter));
  assert.equal((await reviewTranscripts(server.deps, uuid, { review: 'accepted' })).count, 2);
  await assert.rejects(reviewTranscripts(server.deps, uuid, { review: 'accepted' }), NothingToDecide);
  assert.deepEqual(await decisions(), ['proof-accepted +0']);
  await reviewTranscripts(server.deps, uuid, { review: 'rejected', reason: 'outdated' });
  await rejectFinally(server.deps, uuid, 'outdated');
  assert.deepEqual(await decisions(), ['proof-accepted +0', 'proof-rejected +0', 'proof-rejected final +0']);
});

/** Makes a payment stay `processing` at the bank for a while, and then makes the bank decline it. */
async function declinedLate(id: string): Promise<void> {
  await server.stripeControl('processing', { hold: true });
  await payByCard(server, id);
  await server.stripeControl('processing', { hold: false });
  await secondLater(server);
  assert.equal((await lookAtPayment(server.deps, id, 'fresh')).outcome, 'processing');
  await server.stripeControl(`payment_intents/${id}/settle`, { declines: 'generic_decline' });
  await secondLater(server);
  assert.equal((await lookAtPayment(server.deps, id, 'fresh')).outcome, 'requires_payment_method');
}

test('a payment that fails after the bank was asked is told; a card that is declined at once is not', async () => {
  const { client, uuid } = await newOrder(server);
  const { id, revision } = await openIntent(client, uuid);
  await beginPayment(client, uuid, revision);
  await payByCard(server, id, 'pm_card_chargeDeclined');
  await lookAtPayment(server.deps, id, 'fresh');
  assert.deepEqual(await lettersOf(uuid), []);
  await declinedLate(id);
  await lookAtPayment(server.deps, id, 'fresh');
  assert.deepEqual(await lettersOf(uuid), ['payment-failed +0']);
});

test('a payment that failed is told with the amount that the bank was asked for, whatever its joiner adds then', async () => {
  const { client, uuid } = await newOrder(server, 'LINCOLN2026', { personalEmail: 'added@example.com' });
  const { id, revision } = await openIntent(client, uuid);
  await beginPayment(client, uuid, revision);
  await declinedLate(id);
  assert.equal(await settlePaying(server.deps, uuid, 'failed'), 'ordering');
  const body = { productUuid: '0b6f2f0e-58f1-4d38-9a4e-3f5a9f1f0030' };
  await client.call('setSessionProduct', { params: { uuid }, body });
  assert.deepEqual(await openIntent(client, uuid).then((open) => [open.id, open.amount]), [id, 7700]);
  assert.match(await textOf(uuid, 'payment-failed'), /You placed an order of \$65\.00 for/);
});

test('a payment that is cancelled while its bank is asked is told, too', async () => {
  const { uuid } = await newOrder(server);
  const { id } = await openIntent(server.client(), uuid);
  await sql`update payment set seen_status = 'processing' where intent_id = ${id}`.execute(
    server.deps.database,
  );
  await server.stripe('POST', `/v1/payment_intents/${id}/cancel`);
  assert.equal((await lookAtPayment(server.deps, id, 'fresh')).outcome, 'canceled');
  assert.deepEqual(await lettersOf(uuid), ['payment-failed +0']);
});

test('whose payment fails at the bank is told so if they have given a membership back, and not if they hold one', async () => {
  const personalEmail = 'pays.again@example.com';
  const { client, uuid: first, intentId } = await newMember(server, 'LINCOLN2026', { personalEmail });
  assert.equal((await charge(client, first, intentId)).data.status, 'succeeded');
  const uuid = await orderingJoin(client, 'LINCOLN2026', { personalEmail });
  const { id, revision } = await openIntent(client, uuid);
  await beginPayment(client, uuid, revision);
  await declinedLate(id);
  const isTrue = async () => {
    const { rows } = await sql<{ id: string }>`
      select id from letter where session_uuid = ${uuid} and kind = 'payment-failed'`.execute(
      server.deps.database,
    );
    return holds((await readLetter(server.deps, rows[0]!.id))!, new Date());
  };
  assert.equal(await isTrue(), false);
  await refundJoin(server.deps, first, membershipOnly);
  assert.equal(await isTrue(), true, 'an upgrade that is kept makes nobody a member');
});

test('an upgrade that comes to nothing at the bank is not told as the payment of the join', async () => {
  const { client, uuid, intentId } = await newMember(server);
  const body = { paymentIntent: intentId, charge: false };
  const { data } = await client.call('createUpgradeCharge', { params: { uuid }, body });
  const id = data.clientSecret!.split('_secret_')[0]!;
  await declinedLate(id);
  assert.equal((await lettersOf(uuid)).includes('payment-failed +0'), false);
});

test('a member whose upgrade by link fails at the bank is not told to be no member', async () => {
  await newMember(server, 'HONOR102');
  const client = server.client();
  const body = { hubspotContactId: '102', mainProductId: 10 };
  const uuid = (await client.call('initiateCheckout', { body })).data.joinSessionUuid;
  const { id, revision } = await openIntent(client, uuid);
  await beginPayment(client, uuid, revision);
  await declinedLate(id);
  const text = await textOf(uuid, 'payment-failed');
  assert.match(text, /nothing was charged/);
  assert.doesNotMatch(text, /not a member/);
});

test('where the society sends its letters by other means, none is written', async (t) => {
  const { mail } = server.deps.config;
  server.deps.config.mail = null;
  t.after(() => {
    server.deps.config.mail = mail;
  });
  const { uuid } = await newMember(server);
  assert.deepEqual(await lettersOf(uuid), []);
});

test('no letter and no notice says that money was returned which Stripe does not return yet', async (t) => {
  const client = server.client();
  const personalEmail = 'returned@example.com';
  const { uuid, intentId } = await paidJoin(server, client, 'LINCOLN2026', { personalEmail });
  assert.equal((await postPdf(client, `/api/public/join-session/${uuid}/upload-transcript`)).status, 200);
  await server.stripeControl('refunds', { answer: 'refused' });
  const { out } = await runCommand(t, server, 'documents reject', [
    uuid,
    '--reason',
    'below-requirement',
    '--final',
  ]);
  while (await sendDue(server.deps, server.deps.config.mail!));
  await server.stripeControl('refunds', { answer: 'succeeded' });
  assert.deepEqual(await atStripe(server, intentId), []);
  const letters = (await server.letters())
    .map((letter) => JSON.stringify(letter))
    .filter((text) => text.includes(personalEmail));
  const said = [out, ...letters, ...(await noticesOf(server, uuid))];
  const untrue = said.flatMap(
    (text) =>
      text.replaceAll(/=\\r\\n/g, '').match(/have returned your membership fee|its money was refunded/g) ??
      [],
  );
  assert.deepEqual(untrue, []);
});

/**
 * Makes a payment fail, while somebody with this first name and the same email pays. Returns how many letters report the failure.
 */
async function toldOfFailure(personalEmail: string, firstName: string): Promise<number> {
  const person = { personalEmail };
  const { client, uuid, intent } = await newIntent(server, 'LINCOLN2026', person);
  await beginPayment(client, uuid, intent.revision);
  await server.stripeControl('processing', { hold: true, intent: intent.id });
  await payByCard(server, intent.id);
  assert.equal((await reportPayment(client, uuid, intent)).data.status, 'processing');
  await newMember(server, 'LINCOLN2026', { ...person, firstName });
  await server.stripeControl(`payment_intents/${intent.id}/settle`, { declines: 'insufficient_funds' });
  await sql`update payment set looked_at = null, checked_at = now() - interval '1 hour' where intent_id = ${intent.id}`.execute(
    server.deps.database,
  );
  await sweepPayments(server.deps);
  while (await sendDue(server.deps, server.deps.config.mail!));
  const subjects = (await server.letters())
    .filter(({ to }) => to === personalEmail)
    .map(({ subject }) => subject);
  assert.ok(
    subjects.some((subject) => /confirmed/.test(subject)),
    JSON.stringify(subjects),
  );
  return subjects.filter((subject) => /did not go through/.test(subject)).length;
}

test('who has become a member by another payment meanwhile is not sent back to pay the order that failed; whose sibling has, is', async () => {
  assert.equal(await toldOfFailure('failed.member@example.com', 'Jordan'), 0);
  assert.equal(await toldOfFailure('failed.sibling@example.com', 'Sam'), 1);
});

for (const [code, where] of [
  ['GOESBACK1', 'by our command'],
  ['GOESBACK2', 'in the dashboard, in two parts'],
])
  test(`a payer hears that a second payment goes back when staff give it back ${where}, and not while Stripe refuses that for good`, async (t) => {
    const personalEmail = `second.disputed.${code}@example.com`;
    await newContact(server, personalEmail, { invitation_code: code! });
    const { client, uuid } = await newOrder(server, code, { personalEmail });
    const { id } = await openIntent(client, uuid);
    await newMember(server, code, { personalEmail });
    await payByCard(server, id);
    const dispute = await server.stripeControl('disputes', { charge: await chargeOf(server, id) });
    assert.equal(await confirmPayment(server.deps, id), 'refunded');
    assert.deepEqual(
      [(await refundsOf(server, id)).map(({ status }) => status), await atStripe(server, id)],
      [['failed'], []],
      'the bank has the money, and Stripe refunds nothing',
    );
    const told = async () => {
      while (await sendDue(server.deps, server.deps.config.mail!));
      const letters = await server.letters();
      return letters.filter(({ to, subject }) => to === personalEmail && /is being refunded/.test(subject))
        .length;
    };
    assert.equal(await told(), 0);
    await server.stripeControl(`disputes/${dispute.id}/close`, { status: 'won' });
    await followPayment(server.deps, id);
    if (where === 'by our command') assert.equal((await runCommand(t, server, 'refund', [id])).code, 0);
    else
      for (const amount of ['2500', '4000']) {
        assert.equal(await told(), 0, 'all of it, or nothing is told');
        await server.stripe('POST', '/v1/refunds', { payment_intent: id, amount });
        await followPayment(server.deps, id);
      }
    assert.equal(await told(), 1);
  });

test('whose next transcript was accepted is not asked for another one by the late letter about the one before', async (t) => {
  const personalEmail = 'late.rejection@example.com';
  const { client, uuid } = await newMember(server, undefined, { personalEmail });
  const upload = () => postPdf(client, `/api/public/join-session/${uuid}/upload-transcript`);
  assert.equal((await upload()).status, 200);
  await runCommand(t, server, 'documents reject', [uuid, '--reason', 'unreadable']);
  assert.equal((await upload()).status, 200);
  await runCommand(t, server, 'documents accept', [uuid]);
  while (await sendDue(server.deps, server.deps.config.mail!));
  const subjects = (await server.letters())
    .filter(({ to }) => to === personalEmail)
    .map(({ subject }) => subject);
  assert.deepEqual(
    subjects.filter((subject) => /transcript/i.test(subject)),
    ['Your transcript was accepted'],
  );
});

test('the letters about a final rejection tell what was kept and that the membership has ended', async (t) => {
  const { client, uuid } = await undergraduate(server);
  while (await sendDue(server.deps, server.deps.config.mail!));
  const before = (await server.letters()).map(({ messageId }) => messageId);
  assert.equal((await postPdf(client, `/api/public/join-session/${uuid}/upload-transcript`)).status, 200);
  const args = [uuid, '--reason', 'below-requirement', '--final'];
  assert.equal((await runCommand(t, server, 'documents reject', args)).code, 0);
  while (await sendDue(server.deps, server.deps.config.mail!));
  const mails = (await server.letters()).filter(({ messageId }) => !before.includes(messageId));
  const parsed = await Promise.all(mails.map(({ raw }) => simpleParser(Buffer.from(raw, 'latin1'))));
  const texts = parsed.map(({ text }) => text!.replace(/\s+/g, ' '));
  assert.ok(
    texts.some((text) => /We kept the processing fee of \$5\.00, because/.test(text)),
    texts.join('\n'),
  );
  assert.ok(
    texts.some((text) => /We kept the processing fee of \$5\.00, because/.test(text)),
    texts.join('\n'),
  );
  assert.equal(texts.filter((text) => /Your membership has ended\./.test(text)).length, 2);
});
