import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import type { NoticeKind } from '#core/notice.ts';
import { beforeEachIn } from '../../../tests/harness/hooks.ts';
import { membershipOnly, undergraduate } from '../../../tests/harness/refunds.ts';
import { joinRow } from '../../../tests/harness/rows.ts';
import { newMember } from '../../../tests/harness/steps.ts';
import { sharedServer } from '../../../tests/harness/testServer.ts';
import { reconcileNow } from '../books/reconcile.ts';
import { requireSameAccount } from '../crm/account.ts';
import { certificateForStaff } from '../membership/certificateForStaff.ts';
import { assignRefundLines } from '../paying/refunds/assignRefund.ts';
import { followPayment } from '../paying/refunds/followPayment.ts';
import { promiseRefund } from '../paying/refunds/giveBack.ts';
import { bringStanding } from '../paying/refunds/membershipStanding.ts';
import { refundJoin } from '../paying/refunds/refundJoin.ts';
import { correctPerson, previewCorrection } from '../people/correctPerson.ts';
import { keepApart } from '../people/mergePersons.ts';
import { notifyStaff } from './notifyStaff.ts';

/** Tests that a notice ends when its cause is repaired. */
const server = await sharedServer();
const { deps } = server;
const { database } = deps;
const staff = { ...deps, actor: 'Dana' };

beforeEachIn(import.meta.filename, async () => {
  await sql`delete from staff_notice`.execute(database);
});

/** Returns the kinds of the open notices. */
async function open(): Promise<NoticeKind[]> {
  const { rows } = await sql<{ kind: NoticeKind }>`
    select kind from staff_notice where ended_at is null order by id`.execute(database);
  return rows.map(({ kind }) => kind);
}
const hoursLater = () =>
  sql`update staff_notice set last_seen_at = now() - interval '7 hours'`.execute(database);

test('what a refund of the dashboard was for is asked until staff have said it', async () => {
  const { intentId } = await newMember(server, 'LINCOLN2026');
  await server.stripe('POST', '/v1/refunds', { payment_intent: intentId, amount: '700' });
  await followPayment(deps, intentId);
  assert.deepEqual(await open(), ['refund_elsewhere']);
  const { uuid } = await database
    .selectFrom('refund')
    .select('uuid')
    .where('intent_id', '=', intentId)
    .executeTakeFirstOrThrow();
  await assignRefundLines(staff, uuid, 'none');
  assert.deepEqual(await open(), []);
});

test('a refund that failed, was refused or dropped is told until it is decided again, and no other one ends it', async () => {
  const email = { personalEmail: 'decided.again@example.com' };
  const { uuid, intentId } = await newMember(server, 'LINCOLN2026', email);
  const params = { intentId, amountCents: 6500 };
  await notifyStaff(database, {
    kind: 'refund_refused',
    subject: uuid,
    params: { ...params, refusal: 'no' },
    remedy: null,
  });
  await notifyStaff(database, { kind: 'refund_dropped', subject: uuid, params, remedy: null });
  await promiseRefund(database, { intentId, amountCents: 1200, reason: 'requested' });
  assert.deepEqual(await open(), ['refund_refused', 'refund_dropped']);
  await promiseRefund(database, { ...params, reason: 'requested' });
  assert.deepEqual(await open(), []);
  await sql`delete from refund where intent_id = ${intentId}`.execute(database);
});

test('a new standing of a membership ends what was told of the one before, and is told unless staff have decided it', async () => {
  const { uuid, intentId } = await undergraduate(server);
  await notifyStaff(database, {
    kind: 'standing',
    subject: uuid,
    params: { intentId, type: 'membership', standing: 'disputed', isNotTold: false },
    remedy: null,
  });
  const told = async () => {
    const { rows } = await sql`
      select params ->> 'standing' as standing from staff_notice where ended_at is null and kind = 'standing'`.execute(
      database,
    );
    return rows;
  };
  const bring = (standing: 'disputed' | 'active') =>
    database.transaction().execute((trx) => bringStanding(trx, { uuid }, intentId, standing));
  await bring('disputed');
  await bring('active');
  assert.deepEqual(await told(), [{ standing: 'active' }]);
  await refundJoin(deps, uuid, membershipOnly);
  assert.deepEqual(await told(), []);
});

test('a name that no certificate can show is told until it is corrected or printed otherwise, an email that HubSpot refuses until it is corrected', async () => {
  const { uuid } = await newMember(server, undefined, { personalEmail: 'kiran@example.com' });
  const { person_id: personId } = await joinRow(server, uuid);
  const correct = async (change: Parameters<typeof previewCorrection>[2]) => {
    const seen = await previewCorrection(staff, personId!, change);
    await correctPerson(staff, personId!, change, { seen, resends: false });
  };
  const send = async () => {
    await notifyStaff(database, {
      kind: 'certificate_name',
      subject: uuid,
      params: { letters: 'किरण' },
      remedy: null,
    });
    const params = { contactId: '101', isTaken: false, other: null };
    await notifyStaff(database, { kind: 'email_refused', subject: uuid, params, remedy: null });
  };
  await send();
  await correct({ city: 'Pune' });
  assert.deepEqual(await open(), ['certificate_name', 'email_refused']);
  await correct({ firstName: 'Kiran', personalEmail: 'kiran.rao@example.com' });
  assert.deepEqual(await open(), []);
  await send();
  await certificateForStaff(staff, uuid, { name: 'Kiran Rao', paper: null });
  assert.deepEqual(await open(), ['email_refused']);
});

test('what a reconciliation finds no more is told no more, and what it still finds stays', async () => {
  const person = { personalEmail: 'twice@example.com' };
  const first = await newMember(server, 'LINCOLN2026', person);
  const second = await newMember(server, 'LINCOLN2026', person);
  await notifyStaff(database, {
    kind: 'background',
    subject: null,
    params: { what: 'payments could not be settled', cause: 'a cause.' },
    remedy: { do: 'reconcile' },
  });
  assert.deepEqual(await open(), ['perhaps_twice', 'background']);
  await sql`update payment set succeeded_at = succeeded_at - interval '1 hour'`.execute(database);
  await sql`update join_session set paid_at = paid_at - interval '1 hour'`.execute(database);
  await reconcileNow(deps, null);
  assert.deepEqual(await open(), ['perhaps_twice', 'background'], 'they were met within the last hours');
  await hoursLater();
  await reconcileNow(deps, null);
  assert.deepEqual(await open(), ['perhaps_twice'], 'the two are still likely the same');
  const { rows } = await sql<{ id: number }>`
    select person_id as id from join_session where uuid in (${first.uuid}, ${second.uuid})`.execute(database);
  await keepApart(staff, rows[0]!.id, rows[1]!.id);
  await reconcileNow(deps, null);
  assert.deepEqual(await open(), []);
});

test('another HubSpot account is told until the token is of the right one', async () => {
  await notifyStaff(database, {
    kind: 'other_hubspot_account',
    subject: null,
    params: { kept: '1', present: '2' },
    remedy: null,
  });
  await requireSameAccount(deps);
  assert.deepEqual(await open(), []);
});
