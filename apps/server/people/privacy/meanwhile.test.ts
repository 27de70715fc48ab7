import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { sql } from 'kysely';
import { personKeys } from '#core/intentText.ts';
import { deliver, editAtHubspot, newContact } from '../../../../tests/harness/deliver.ts';
import { waiting } from '../../../../tests/harness/locks.ts';
import { mergeNow } from '../../../../tests/harness/mergeNow.ts';
import { askHubspot, control } from '../../../../tests/harness/providers.ts';
import { membershipOnly } from '../../../../tests/harness/refunds.ts';
import { joinRow } from '../../../../tests/harness/rows.ts';
import { runCommand } from '../../../../tests/harness/runCommand.ts';
import {
  beginPayment,
  openIntent,
  orderingJoin,
  paidJoin,
  payByCard,
  reportPayment,
} from '../../../../tests/harness/steps.ts';
import { sharedServer } from '../../../../tests/harness/testServer.ts';
import { until } from '../../../../tests/harness/until.ts';
import { postPdf } from '../../../../tests/harness/uploads.ts';
import { giveUpUnwritten } from '../../books/catchUp.ts';
import { pushDue } from '../../crm/push.ts';
import { attachDue } from '../../documents/attachDocuments.ts';
import { confirmPayment } from '../../paying/confirmPayment.ts';
import { refundJoin } from '../../paying/refunds/refundJoin.ts';
import type { Changed } from '../../platform/failed.ts';
import { ChangedMeanwhile, correctPerson, previewCorrection } from '../correctPerson.ts';
import { unmergePersons } from '../mergePersons.ts';
import { removeAtStripe } from './atStripe.ts';
import { erasePerson } from './erasePerson.ts';
import { emailHash, findPerson } from './findPerson.ts';
import { keepIds, leftAtHubspot } from './leftAtHubspot.ts';
import { type ErasurePlan, planErasure } from './planErasure.ts';

/** Tests that nothing that runs during an erasure leaves data of the erased person behind. */
const server = await sharedServer({}, { hubspotLimits: 'off' });
const { deps } = server;

async function erase(t: TestContext, email: string, ...options: string[]): Promise<void> {
  const { code, out } = await runCommand(t, server, 'person erase', [email, '--yes', ...options]);
  assert.equal(code, 0, out);
}
/** Runs `work` when an upload has been received and inspected, but not stored yet. */
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
  // Another person's membership refers to the contact, so the erasure must keep the contact's id in the mirror.
  const guardian = { personalEmail: 'guardian@example.com' };
  const { uuid } = await paidJoin(server, server.client(), undefined, guardian);
  await sql`update membership set person_id = (select id from person where contact_id = ${named}) where session_uuid = ${uuid}`.execute(
    deps.database,
  );
  const alone = 'resume.alone@example.com';
  const emails = { [named]: byJoin, [await contactInMirror(alone)]: alone };
  for (const [contactId, email] of Object.entries(emails)) {
    whileUploading(t, () => erase(t, email));
    const answer = await postPdf(server.client(), '/api/public/upload-resume', { contactId });
    t.mock.reset();
    assert.equal(answer.status, 404);
    await assertNoDocument();
  }
  const { rows } =
    await sql`select from person where contact_id = ${named} and deleted_at is not null`.execute(
      deps.database,
    );
  assert.equal(rows.length, 1);
});

/**
 * Holds up one call to HubSpot, `before` or `after` HubSpot has handled it. `reached` resolves when the call is held up.
 * `release` lets the call continue.
 */
function holdOpen(
  t: TestContext,
  call: 'createContacts' | 'uploadFile' | 'createNote',
  when: 'before' | 'after',
): { reached: Promise<void>; release: () => void } {
  const [reached, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  t.after(() => gate.resolve());
  const make = server.hubspot[call] as (...given: unknown[]) => Promise<unknown>;
  const held = t.mock.method(server.hubspot, call, async (...given: unknown[]) => {
    held.mock.restore();
    const answer = when === 'after' ? await make(...given) : undefined;
    reached.resolve();
    await gate.promise;
    return when === 'after' ? answer : make(...given);
  });
  return { reached: reached.promise, release: gate.resolve };
}
/**
 * Erases a person while a run of background work (`work`) is held up in a call to HubSpot. Asserts that the erasure waits for
 * that run, and that no new run begins.
 */
async function eraseMeanwhile(
  t: TestContext,
  {
    email,
    work,
    reached,
    release,
  }: { email: string; work: Promise<unknown>; reached: Promise<void>; release(): void },
): Promise<void> {
  await reached;
  const erasing = erase(t, email, '--hubspot');
  const erased = erasing.then(() => 'erased');
  assert.equal(await Promise.race([erased, waiting(server.background, 1)]), 'waiting');
  assert.equal((await pushDue(background)).taken, 0);
  assert.equal(await attachDue(background, server.hubspot), 0);
  release();
  await Promise.all([work, erasing]);
}
const background = { ...deps, database: server.background };
const heldByHubspot = () =>
  control<{ files: object[]; notes: object[] }>(server.hubspotUrl, 'GET', 'attachments');

for (const when of ['before', 'after'] as const)
  test(`a contact that is being made at HubSpot is gone after the erasure, which came just ${when} it was made`, async (t) => {
    const emails = {
      personalEmail: `pushed.${when}@example.com`,
      schoolEmail: `at.school.${when}@example.com`,
    };
    await paidJoin(server, server.client(), undefined, emails);
    const held = holdOpen(t, 'createContacts', when);
    const work = pushDue(background);
    // Erases by the joiner's school email. HubSpot's contact does not have that email, so it is found only by its stored id.
    await eraseMeanwhile(t, { email: emails.schoolEmail, work, ...held });
    assert.equal(await server.hubspot.findByEmail(emails.personalEmail), null);
    assert.equal((await pushDue(background)).taken, 0);
  });

for (const call of ['uploadFile', 'createNote'] as const)
  for (const when of ['before', 'after'] as const)
    test(`a document whose ${call === 'uploadFile' ? 'file' : 'note'} is being made at HubSpot is gone after the erasure, which came just ${when} it was made`, async (t) => {
      const client = server.client();
      const email = `${call}.${when}@example.com`.toLowerCase();
      const { uuid } = await paidJoin(server, client, undefined, { personalEmail: email });
      assert.equal((await postPdf(client, `/api/public/join-session/${uuid}/upload-transcript`)).status, 200);
      await sql`update document set review = 'accepted', reviewed_at = now() where session_uuid = ${uuid}`.execute(
        deps.database,
      );
      await deliver(server);
      const held = holdOpen(t, call, when);
      const work = attachDue(background, server.hubspot);
      await eraseMeanwhile(t, { email, work, ...held });
      assert.deepEqual((await heldByHubspot()).files, []);
      assert.equal(await server.hubspot.findByEmail(email), null);
      await assertNoDocument();
    });

test('a file whose upload to HubSpot was not noted, since the process died, is found and deleted', async (t) => {
  const client = server.client();
  const email = 'died@example.com';
  const { uuid } = await paidJoin(server, client, undefined, { personalEmail: email });
  await postPdf(client, `/api/public/join-session/${uuid}/upload-transcript`);
  await deliver(server);
  await attachDue(background, server.hubspot);
  assert.equal((await heldByHubspot()).files.length, 1);
  await sql`update document set crm_file_id = null, crm_note_id = null, review = 'accepted', reviewed_at = now()
    where session_uuid = ${uuid}`.execute(deps.database);
  await erase(t, email, '--hubspot');
  assert.deepEqual((await heldByHubspot()).files, []);
});

for (const isNoted of [true, false])
  test(`a note on a contact of another email, which stays, is deleted${isNoted ? '' : ', also where its id was not recorded'}`, async (t) => {
    const email = `note.${isNoted}@example.com`;
    const contact = await newContact(server, `other.of.${email}`);
    await deps.contacts.refresh(contact);
    const client = server.client();
    const { uuid } = await paidJoin(server, client, undefined, { personalEmail: email });
    await sql`update join_session set person_id = (select id from person where contact_id = ${contact}) where uuid = ${uuid}`.execute(
      deps.database,
    );
    await postPdf(client, `/api/public/join-session/${uuid}/upload-transcript`);
    await deliver(server);
    await attachDue(background, server.hubspot);
    assert.equal((await heldByHubspot()).notes.length, 1);
    await editAtHubspot(server, contact, { personal_email: '' });
    await sql`update document set review = 'accepted', reviewed_at = now(), crm_note_id = case when ${isNoted} then crm_note_id end
      where session_uuid = ${uuid}`.execute(deps.database);
    await erase(t, email, '--hubspot');
    const { files, notes } = await heldByHubspot();
    assert.deepEqual([files, notes], [[], []]);
    assert.equal((await server.hubspot.getContact(contact, 5_000))?.id, contact);
  });

test('a file whose id is kept while staff are asked is deleted at HubSpot as well', async (t) => {
  const email = 'asked.long@example.com';
  await paidJoin(server, server.client(), undefined, { personalEmail: email });
  const shown = await planErasure(deps, email);
  const hash = await emailHash(deps.database, email);
  // Stores a file id after the person was found, as retention does when it erases an older join of the same person.
  await keepIds(deps.database, [hash], { contacts: [], files: ['777001'] });
  const erased: string[] = [];
  t.mock.method(server.hubspot, 'eraseFile', async (id: string) => void erased.push(id));
  await erasePerson(deps, shown, { hubspot: server.hubspot });
  assert.deepEqual(erased, ['777001']);
  assert.deepEqual((await leftAtHubspot(deps.database, hash)).files, []);
});

/** Returns the objects of a kind at Stripe that contain `name`, which is an email or a join's uuid. */
async function atStripe(kind: 'payment_intents' | 'customers', name: string) {
  const { body } = await server.stripe('GET', `/v1/${kind}?limit=100`);
  const { data } = body as never as {
    data: { id: string; status: string; metadata: Record<string, string> }[];
  };
  return data.filter((one) => JSON.stringify(one).includes(name));
}

/** Returns the keys of an intent's metadata that identify its joiner. */
const namedIn = (metadata: Record<string, string>) => personKeys.filter((key) => metadata[key]);

for (const before of ['nothing was paid', 'a payment went back'])
  test(`an intent that is being made while its person is erased is cancelled and names nobody, where ${before} before`, async (t) => {
    const client = server.client();
    const email = `making.an.intent.${before.length}@example.com`;
    const uuid = await orderingJoin(client, 'HONOR104', { personalEmail: email, firstName: 'Vanishing' });
    if (before !== 'nothing was paid') {
      // The contact pays by another join first, so the payment of `second` is refunded as a duplicate. Then the other join is
      // refunded.
      const second = await openIntent(client, uuid);
      const other = await paidJoin(server, server.client(), 'HONOR104');
      await payByCard(server, second.id);
      assert.equal(await confirmPayment(deps, second.id), 'refunded');
      await refundJoin(deps, other.uuid, membershipOnly);
    }
    const { createIntent } = deps.payments;
    const mock = t.mock.method(
      deps.payments,
      'createIntent',
      async (...given: Parameters<typeof createIntent>) => {
        mock.mock.restore();
        const intent = await createIntent(...given);
        await erase(t, email);
        return intent;
      },
    );
    const answer = await client.call('createPaymentIntent', {
      params: { uuid },
      body: { amount: 6500, currency: 'usd', billingEmail: email },
    });
    assert.equal(answer.status, 404);
    const open = (await atStripe('payment_intents', uuid)).filter(({ status }) => status !== 'succeeded');
    assert.deepEqual(
      open.map(({ status, metadata }) => [status, namedIn(metadata)]),
      [['canceled', []]],
    );
  });

test('an intent whose maker died while its person was erased names nobody once it is given up', async (t) => {
  const client = server.client();
  const email = 'died.making.an.intent@example.com';
  const uuid = await orderingJoin(client, undefined, { personalEmail: email, firstName: 'Vanishing' });
  const { id } = await openIntent(client, uuid);
  await deps.database.deleteFrom('payment').where('intent_id', '=', id).execute();
  await erase(t, email);
  assert.ok(await giveUpUnwritten(deps, id));
  const [intent] = await atStripe('payment_intents', uuid);
  assert.deepEqual([intent!.status, namedIn(intent!.metadata)], ['canceled', []]);
});

test('an intent of a join that was paid by another one, whose maker died, names nobody once its person is erased', async (t) => {
  const client = server.client();
  const email = 'died.and.paid@example.com';
  const uuid = await orderingJoin(client, undefined, { personalEmail: email, firstName: 'Vanishing' });
  const { id } = await openIntent(client, uuid);
  await deps.database.deleteFrom('payment').where('intent_id', '=', id).execute();
  await client.call('setCustomDonation', { params: { uuid }, body: { amount: '25.00' } });
  const other = await openIntent(client, uuid);
  assert.notEqual(other.id, id);
  await beginPayment(client, uuid, other.revision);
  await payByCard(server, other.id);
  await reportPayment(client, uuid, other);
  await erase(t, email);
  assert.ok(await giveUpUnwritten(deps, id));
  const intent = (await atStripe('payment_intents', uuid)).find((one) => one.id === id)!;
  assert.deepEqual([intent.status, namedIn(intent.metadata)], ['canceled', []]);
});

for (const when of ['while Stripe is told', 'after all is gone'] as const)
  test(`a customer that is being made while its person is erased goes, and is noted ${when}`, async (t) => {
    const client = server.client();
    const email = `customer.${when.replaceAll(' ', '.')}@example.com`;
    const uuid = await orderingJoin(client, undefined, { personalEmail: email });
    const intent = await openIntent(client, uuid);
    await beginPayment(client, uuid, intent.revision);
    await payByCard(server, intent.id);
    const { createCustomer, writeNotes } = deps.payments;
    const [made, mayNote] = [0, 1].map(() => Promise.withResolvers<void>());
    const mock = t.mock.method(
      deps.payments,
      'createCustomer',
      async (...given: Parameters<typeof createCustomer>) => {
        mock.mock.restore();
        const customer = await createCustomer(...given);
        made!.resolve();
        await mayNote!.promise;
        return customer;
      },
    );
    const customerId = async () => {
      const row = deps.database
        .selectFrom('payment')
        .select('customer_id')
        .where('intent_id', '=', intent.id);
      return (await row.executeTakeFirstOrThrow()).customer_id;
    };
    await reportPayment(client, uuid, intent);
    await made!.promise;
    if (when === 'while Stripe is told')
      t.mock.method(deps.payments, 'writeNotes', async (...given: Parameters<typeof writeNotes>) => {
        await writeNotes(...given);
        mayNote!.resolve();
        await until(async () => (await customerId()) !== '');
      });
    await erase(t, email);
    mayNote!.resolve();
    await removeAtStripe(deps);
    await until(async () => (await atStripe('customers', email)).length === 0);
    assert.equal(await customerId(), '');
  });

test('a person is not erased while they are corrected, and not corrected while they are erased', async (t) => {
  const email = 'corrected.meanwhile@example.com';
  const { uuid, intentId } = await paidJoin(server, server.client(), undefined, { personalEmail: email });
  const { person_id } = await joinRow(server, uuid);
  const correction = await previewCorrection(deps, person_id!, { firstName: 'Other' });
  const correct = () =>
    correctPerson(deps, person_id!, { firstName: 'Other' }, { seen: correction, resends: false });
  const seen = await planErasure(deps, email);
  const { writeNotes } = deps.payments;
  // At Stripe, the erasure removes the person's data from the metadata, and the correction writes the corrected name into them.
  const mock = t.mock.method(deps.payments, 'writeNotes', async (...given: Parameters<typeof writeNotes>) => {
    mock.mock.restore();
    await assert.rejects(correct(), ChangedMeanwhile);
    await writeNotes(...given);
  });
  await erasePerson(deps, seen);
  assert.equal(mock.mock.callCount(), 1);
  const [intent] = (await atStripe('payment_intents', uuid)).filter(({ id }) => id === intentId);
  assert.deepEqual(namedIn(intent!.metadata), []);
  await assert.rejects(correct(), /erased/);
});

test('persons who were joined are not parted while they are erased', async (t) => {
  const email = 'parted.meanwhile@example.com';
  const one = await paidJoin(server, server.client(), undefined, { personalEmail: email });
  const other = await paidJoin(server, server.client(), undefined, {
    personalEmail: 'parted.other@example.com',
    firstName: 'Other',
  });
  await mergeNow(server, other.uuid, one.uuid);
  const { person_id } = await joinRow(server, one.uuid);
  const seen = await planErasure(deps, email);
  const { writeNotes } = deps.payments;
  // Undoing the merge would write data to Stripe that the erasure has just removed there.
  const mock = t.mock.method(deps.payments, 'writeNotes', async (...given: Parameters<typeof writeNotes>) => {
    await writeNotes(...given);
    mock.mock.restore();
    await assert.rejects(unmergePersons(deps, person_id!), /being erased/);
  });
  await erasePerson(deps, seen);
  for (const { uuid } of [one, other])
    for (const { metadata } of await atStripe('payment_intents', uuid))
      assert.deepEqual(namedIn(metadata), []);
});

test('the report of a payment opens no erased join', async (t) => {
  const email = 'reported.after@example.com';
  const { uuid, intentId } = await paidJoin(server, server.client(), undefined, { personalEmail: email });
  await erase(t, email);
  const answer = await server.client().call('postPayment', {
    params: { uuid },
    body: { paymentIntent: intentId, paymentIntentClientSecret: '', redirectStatus: 'succeeded' },
  });
  assert.deepEqual([answer.status, answer.headers.getSetCookie()], [404, []]);
});

test('a join that its person begins while staff are asked whether to erase them is to be shown first', async () => {
  const email = 'begun.while.asked@example.com';
  const { uuid: shown } = await paidJoin(server, server.client(), undefined, { personalEmail: email });
  const seen = await planErasure(deps, email);
  const client = server.client();
  const uuid = await orderingJoin(client, undefined, { personalEmail: email });
  const { id, revision } = await openIntent(client, uuid);
  await beginPayment(client, uuid, revision);
  await assert.rejects(erasePerson(deps, seen), (error: Changed<ErasurePlan>) => {
    assert.deepEqual(error.now.person.joins.toSorted(), [shown, uuid].toSorted());
    return true;
  });
  assert.deepEqual((await findPerson(deps, email)).joins.toSorted(), [shown, uuid].toSorted());
  await payByCard(server, id);
  assert.equal(await confirmPayment(deps, id), 'succeeded');
});
