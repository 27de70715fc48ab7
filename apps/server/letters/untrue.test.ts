import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { simpleParser } from 'mailparser';
import { atStripe, chargeOf, refundsOf, undergraduate } from '../../../tests/harness/refunds.ts';
import { noticesOf } from '../../../tests/harness/rows.ts';
import { runCommand } from '../../../tests/harness/runCommand.ts';
import {
  beginPayment,
  newIntent,
  newMember,
  newOrder,
  openIntent,
  paidJoin,
  payByCard,
  reportPayment,
} from '../../../tests/harness/steps.ts';
import { sharedServer } from '../../../tests/harness/testServer.ts';
import { postPdf } from '../../../tests/harness/uploads.ts';
import { sweepPayments } from '../books/sweep.ts';
import { confirmPayment } from '../paying/confirmPayment.ts';
import { followPayment } from '../paying/refunds/followPayment.ts';
import { sendDue } from './sendLetters.ts';

/** Tests that letters and notices never contain statements that are false or not yet true. */
const server = await sharedServer();

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
  ['HONOR103', 'by our command'],
  ['HONOR104', 'in the dashboard, in two parts'],
])
  test(`a payer hears that a second payment goes back when staff give it back ${where}, and not while Stripe refuses that for good`, async (t) => {
    const personalEmail = `second.disputed.${code}@example.com`;
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
      return letters.filter(({ to, subject }) => to === personalEmail && /goes back/.test(subject)).length;
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
  const { client, uuid } = await newMember(server, 'HONOR101', { personalEmail });
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
    texts.some((text) => /We keep the processing fee of \$5\.00, because/.test(text)),
    texts.join('\n'),
  );
  assert.equal(texts.filter((text) => /Your membership has ended\./.test(text)).length, 2);
});
