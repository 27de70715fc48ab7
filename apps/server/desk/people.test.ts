import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { sql } from 'kysely';
import { pathOf } from '#contract/calls.ts';
import type { DeskData } from '#contract/deskSchemas.ts';
import { setDelivery } from '../../../tests/harness/deliver.ts';
import { startDesk } from '../../../tests/harness/desk.ts';
import { deskPeopleOn } from '../../../tests/harness/deskPeople.ts';
import { mergeNow } from '../../../tests/harness/mergeNow.ts';
import { membershipOnly } from '../../../tests/harness/refunds.ts';
import { newMember, payOrder } from '../../../tests/harness/steps.ts';
import { sharedServer } from '../../../tests/harness/testServer.ts';
import { postPdf } from '../../../tests/harness/uploads.ts';
import { reviewTranscripts } from '../documents/review.ts';
import { dueLetters } from '../letters/dueLetters.ts';
import { notifyStaff } from '../letters/notifyStaff.ts';
import { sendDue } from '../letters/sendLetters.ts';
import { shipOrder } from '../membership/shipOrder.ts';
import { refundJoin } from '../paying/refunds/refundJoin.ts';
import { erasePerson } from '../people/privacy/erasePerson.ts';
import { findPerson } from '../people/privacy/findPerson.ts';
import { planOf } from '../people/privacy/planErasure.ts';
import { noteEvent } from './events.ts';
import type { Staff } from './links.ts';
import { NO_LETTER } from './peopleRoutes.ts';
import { NOBODY } from './presentPersonOf.ts';

const server = await sharedServer();
const { deps } = server;
const { database } = deps;
const desk = await startDesk(server);
after(() => desk.close());
const browser = await desk.signedIn('staff');
const { idOf, somebody, orderedPin, personAt: shownAt } = deskPeopleOn(server);

const UUID = /[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}/;
type Found = DeskData<'searchPeople'>;
type Today = DeskData<'getToday'>;

async function search(text: string, next?: string): Promise<Found> {
  const { data, status, message } = await browser.call('searchPeople', {
    body: { text, ...(next !== undefined && { next }) },
  });
  assert.equal(status, 200, message!);
  return data;
}
const personAt = (id: number) => shownAt(browser, id);
const today = async (): Promise<Today> => (await browser.call('getToday')).data;

test('whoever was merged is found and shown as whom they became', async () => {
  const [one, other] = [somebody(), somebody()];
  const first = await newMember(server, 'HONOR104', one);
  const second = await newMember(server, 'LINCOLN2026', other);
  const ids = [await idOf(first.uuid), await idOf(second.uuid)];
  await mergeNow(server, first.uuid, second.uuid);
  const id = await idOf(first.uuid);
  const former = ids.find((each) => each !== id)!;
  await noteEvent(deps, {
    staff: await somebodyOfStaff(),
    action: 'stopReminders',
    subject: String(former),
    outcome: 'done',
  });
  const person = await personAt(former);
  assert.equal(person.id, id);
  assert.deepEqual(await personAt(id), person);
  assert.deepEqual(
    person.joins.map(({ number, state }) => [number, state]),
    [
      [1, 'paid'],
      [2, 'paid'],
    ],
  );
  assert.ok(person.story.some(({ text }) => text === 'Stop reminders.'));
  assert.ok(
    person.problems
      .map(({ text }) => text)
      .includes(
        `Staff have joined two persons who both hold a membership by join ${ids[0] === former ? 2 : 1} of ${person.name} and join ${ids[0] === former ? 1 : 2} of ${person.name}. One of them is to be given back.`,
      ),
    JSON.stringify(person.problems),
  );
  for (const text of ['HONOR104', one.personalEmail, other.personalEmail])
    assert.deepEqual(
      (await search(text)).rows.map((row) => row.id),
      [id],
      text,
    );
});

test('no number but that of a person leads to one', async () => {
  for (const id of ['999999', '0', '-1', 'x', '1e3', '%20', '99999999999999999999', "1'"]) {
    const params = { id };
    for (const name of ['getPerson', 'getPersonAtHubspot'] as const) {
      const { status, message } = await browser.call(name, { params });
      assert.deepEqual([status, message], [404, NOBODY], `${name} ${id}`);
    }
    assert.deepEqual((await browser.call('getLetter', { params })).message, NO_LETTER, id);
  }
  const params = { id: '00000000-0000-4000-8000-000000000000' };
  assert.deepEqual((await browser.call('getLetter', { params })).message, NO_LETTER);
});

/**
 * Makes a member with data of every kind: two joins, goods, a refund, letters, documents, notices, and another person who is
 * likely the same.
 */
async function richPerson() {
  const person = somebody();
  const { client, uuid } = await orderedPin(person);
  const { intentId } = await payOrder(server, client, uuid);
  await postPdf(client, pathOf('uploadTranscript', { uuid }));
  await reviewTranscripts(deps, uuid, { review: 'rejected', reason: 'outdated' });
  await shipOrder({ ...deps, actor: 'Robin' }, uuid, { items: null, note: 'box 7' });
  await refundJoin({ ...deps, actor: 'Robin' }, uuid, { ...membershipOnly, membership: false, items: [30] });
  const left = await orderedPin(person);
  const former = await idOf(left.uuid);
  await sql`update join_session set person_id = ${await idOf(uuid)} where uuid = ${left.uuid}`.execute(
    database,
  );
  await sql`update person set merged_into = ${await idOf(uuid)}, likeness = null, words = '' where id = ${former}`.execute(
    database,
  );
  const twin = await newMember(server, 'LINCOLN2026', person);
  while (await sendDue(deps, deps.config.mail!));
  const id = await idOf(uuid);
  await noteEvent(deps, {
    staff: await somebodyOfStaff(),
    action: 'endLinks',
    subject: String(id),
    outcome: 'refused',
  });
  return {
    id,
    uuid,
    intentId,
    person,
    client,
    uuids: [uuid, left.uuid, twin.uuid],
    twin: await idOf(twin.uuid),
  };
}
async function somebodyOfStaff(): Promise<Staff> {
  const { rows } = await sql<Staff>`select id, name, role from staff where name = 'Person 1'`.execute(
    database,
  );
  return rows[0]!;
}

test('a person is shown with their joins, the oldest first, and with all that became of them', async () => {
  const { id, intentId, person, twin } = await richPerson();
  const shown = await personAt(id);
  assert.deepEqual([shown.name, shown.email], [`Ann ${person.lastName}`, person.personalEmail]);
  assert.match(shown.standing, /^Member since \w+ \d+, \d{4}\.$/);
  assert.deepEqual(
    shown.details.filter(({ label }) => /email|city|country|policies/i.test(label)),
    [
      { label: 'Personal email', value: person.personalEmail },
      { label: 'Country', value: 'United States' },
      { label: 'City', value: 'Austin' },
    ],
  );
  const [paid, left] = shown.joins;
  assert.deepEqual(
    shown.joins.map(({ number, state, origin, isErased }) => [number, state, origin, isErased]),
    [
      [1, 'paid', "with a school's code", false],
      [2, 'ordering', "with a school's code", false],
    ],
  );
  assert.deepEqual([paid!.openLines, left!.payments], [[], []]);
  assert.deepEqual(left!.openLines, [
    { name: 'Membership', priceCents: 6500 },
    { name: 'Lapel Pin', priceCents: 1200 },
  ]);
  const [payment] = paid!.payments;
  assert.deepEqual(
    [payment!.intent, payment!.kind, payment!.status, payment!.amountCents, payment!.standing, payment!.card],
    [intentId, 'join', 'succeeded', 7700, 'active', { brand: 'Visa', last4: '4242' }],
  );
  assert.deepEqual(payment!.lines, [
    { productId: 1, type: 'membership', name: 'Membership', priceCents: 6500, refundedCents: 0 },
    { productId: 30, type: 'store', name: 'Lapel Pin', priceCents: 1200, refundedCents: 1200 },
  ]);
  assert.deepEqual(
    payment!.refunds.map(({ amountCents, why, status, refusal }) => [amountCents, why, status, refusal]),
    [[1200, 'Staff gave it back.', 'succeeded', null]],
  );
  assert.match(paid!.goods[0]!.state, /^sent on .* by Robin \(box 7\), and its money went back since$/);
  assert.deepEqual(
    shown.documents.map(({ kind, name, review, join, isRemoved }) => [kind, name, review, join, isRemoved]),
    [['transcript', 'transcript.pdf', 'rejected', 1, false]],
  );
  assert.match(shown.documents[0]!.reason!, /^Your transcript is not a recent one/);
  assert.ok(
    shown.letters.some(
      ({ kind, state, to, join }) =>
        kind === 'Confirmation' && state === 'sent' && to === person.personalEmail && join === 1,
    ),
  );
  assert.deepEqual(shown.others, [{ id: twin, name: shown.name, email: shown.email }]);
});

test('what goes back of a payment counts whatever it was for, but not what failed', async () => {
  const { uuid } = await newMember(server, 'LINCOLN2026', somebody());
  await sql`insert into refund (intent_id, amount_cents, reason, status, lines) select intent_id, cents, why, became, lines::jsonb
    from payment, (values (300, 'dashboard', 'succeeded', '[{"line": 0, "productId": 1, "name": "Membership", "cents": 300}]'), (200, 'dashboard', 'succeeded', null),
      (50, 'requested', 'due', null), (7, 'dashboard', 'failed', null), (9, 'dashboard', 'canceled', null)) as back (cents, why, became, lines) where session_uuid = ${uuid}`.execute(
    database,
  );
  const [payment] = (await personAt(await idOf(uuid))).joins[0]!.payments;
  assert.deepEqual([payment!.refundedCents, payment!.lines.map((each) => each.refundedCents)], [550, [300]]);
});

test('the story has steps, letters and what staff did, in one order, with who', async () => {
  const { id } = await richPerson();
  const { story } = await personAt(id);
  assert.deepEqual(
    story.map(({ at }) => at),
    story.map(({ at }) => at).sort(),
  );
  const lineOf = (part: string) => {
    const { text, by, isStaff, join } = story.find((line) => line.text.includes(part))!;
    return [text, by, isStaff, join];
  };
  assert.deepEqual(lineOf('Started'), [
    "Started with a school's code, programme high-school.",
    'the joiner',
    false,
    1,
  ]);
  assert.deepEqual(lineOf('Lapel Pin sent'), ['Lapel Pin sent.', 'staff (Robin)', true, 1]);
  assert.deepEqual(lineOf(': Confirmation.').slice(1), ['Induct', false, 1]);
  assert.deepEqual(lineOf('End links'), ['End links (refused).', 'staff (Person 1)', true, null]);
  assert.ok(story.some(({ join }) => join === 2));
});

test('problems are told from notices and facts, each once', async () => {
  const { id, uuid, intentId, uuids, person } = await richPerson();
  await notifyStaff(database, {
    kind: 'refund_refused',
    subject: uuid,
    params: { intentId, amountCents: 100, refusal: 'No balance.' },
    remedy: null,
  });
  await notifyStaff(database, {
    kind: 'email_refused',
    subject: uuid,
    params: { contactId: '7', isTaken: false, other: null },
    remedy: null,
  });
  await setDelivery(server, uuid, sql`refusal = ${`no such property, says ${uuids[1]}`}`);
  await dueLetters(database, deps, [{ kind: 'portal', sessionUuid: uuid, occasion: 'refused' }]);
  await sql`update letter set refusal = '550 no', email = 'ann@example.com' where occasion = 'refused' and session_uuid = ${uuid}`.execute(
    database,
  );
  await sql`insert into refund (intent_id, amount_cents, reason, status, refusal) values (${intentId}, 50, 'requested', 'due', 'Wait.')`.execute(
    database,
  );
  await sql`update document set crm_refusal = 'no scope' where session_uuid = ${uuid}`.execute(database);
  await sql`update join_session set origin = 'self_nomination', paid_at = '2026-05-01T12:00Z' where uuid = ${uuid}`.execute(
    database,
  );
  const { problems } = await personAt(id);
  const who = `Ann ${person.lastName}`;
  assert.deepEqual(
    problems.map(({ text }) => text).toSorted(),
    [
      `A refund of $0.50 of payment ${intentId} waits: Wait.`,
      'HubSpot does not take the document transcript.pdf: no scope',
      `HubSpot does not take the email of join 1 of ${who}. All else of it is in contact 7: correct the email there.`,
      `HubSpot refuses what it is told: no such property, says join 2 of ${who}`,
      `Likely the same as ${who} (ID ${await idOf(uuids[2]!)}), and both hold a membership.`,
      `Stripe refuses to refund payment ${intentId} by $1.00: No balance.`,
      'The letter "Member portal" to ann@example.com was refused: 550 no',
      'The transcript is overdue: it was paid on May 1, 2026, and none has come.',
    ].toSorted(),
  );
  const offersOf = (part: string) =>
    problems
      .find(({ text }) => text.includes(part))!
      .offers.map(({ name, path, role }) => [name, path, role]);
  const at = `/people/${id}`;
  const twin = await idOf(uuids[2]!);
  assert.deepEqual(offersOf('waits'), [['Settle', `${at}?do=settle&join=1`, 'finance']]);
  assert.deepEqual(offersOf('refuses what'), [['Send to HubSpot again', `${at}?do=retry-hubspot`, 'staff']]);
  assert.deepEqual(offersOf('does not take the email'), [['Correct', `${at}/correct`, 'staff']]);
  assert.deepEqual(offersOf('overdue'), [['Add a transcript', `${at}?do=add-transcript&join=1`, 'staff']]);
  assert.deepEqual(offersOf('Likely the same'), [
    ['They are one person', `${at}?do=join&other=${twin}`, 'staff'],
    ['They are two', `${at}?do=keep-apart&other=${twin}`, 'staff'],
  ]);
  assert.match(offersOf('Member portal')[0]![1]!, /\?do=send-letter&letter=[\da-f-]{36}$/);
});

test('what would be written to HubSpot is shown, with what it refuses, and 503 while it does not answer', async (t) => {
  const { uuid } = await orderedPin();
  const params = { id: String(await idOf(uuid)) };
  const { data } = await browser.call('getPersonAtHubspot', { params });
  assert.deepEqual([data.contactId, data.refusal], [null, null]);
  assert.ok(data.waitsSince);
  assert.ok(
    data.changes.some(
      ({ property, from, to }: Record<string, unknown>) =>
        property === 'city' && from === null && to === 'Austin',
    ),
  );
  await setDelivery(server, uuid, sql`refusal = 'no scope'`);
  assert.equal((await browser.call('getPersonAtHubspot', { params })).data.refusal, 'no scope');
  t.after(() => server.hubspotFault(null));
  await server.hubspotFault({ kind: 'status', status: 500, times: 10 });
  assert.equal((await browser.call('getPersonAtHubspot', { params })).status, 503);
});

test('a letter is shown as text, with no way into the join or to stop reminders, and 409 if nobody is known to send it to', async () => {
  const { uuid } = await newMember(server, 'LINCOLN2026', somebody());
  await dueLetters(database, deps, [
    { kind: 'code', sessionUuid: uuid, occasion: 'salt' },
    { kind: 'link', sessionUuid: uuid, occasion: 'link' },
    { kind: 'reminder-hour', sessionUuid: uuid, occasion: 'hour' },
  ]);
  const { letters } = await personAt(await idOf(uuid));
  const shown = await Promise.all(letters.map(({ id }) => browser.call('getLetter', { params: { id } })));
  assert.ok(shown.length >= 4);
  for (const { status, data } of shown) {
    assert.equal(status, 200);
    assert.doesNotMatch(data.text, /#\S|unsubscribe\/\S/);
    assert.ok(!data.text.includes(deps.passes.code(uuid, 'salt')));
    assert.match(data.text, /\n/);
  }
  await sql`update letter set email = null where session_uuid = ${uuid}`.execute(database);
  await sql`update payment set receipt_email = null where session_uuid = ${uuid}`.execute(database);
  await sql`update join_session set details = jsonb_set(details, '{personalEmail}', '""') where uuid = ${uuid}`.execute(
    database,
  );
  await sql`update person set details = null, profile = '{}', email = null where id = ${await idOf(uuid)}`.execute(
    database,
  );
  const { status } = await browser.call('getLetter', { params: { id: letters[0]!.id } });
  assert.equal(status, 409);
});

test('no answer has a join’s uuid or a client secret', async () => {
  const { id, uuid, uuids, person } = await richPerson();
  const text = `Join ${uuids[1]} and ${uuid.toUpperCase()} of nobody.`;
  for (const subject of uuids)
    await notifyStaff(database, {
      kind: 'perhaps_twice',
      subject,
      params: { others: uuids.filter((other) => other !== subject) },
      remedy: { do: 'merge or keep apart', uuid: subject, other: uuid },
    });
  await notifyStaff(database, { kind: 'provider_trouble', subject: null, params: { text }, remedy: null });
  await setDelivery(server, uuid, sql`refusal = ${text}`);
  const shown = await personAt(id);
  const answers = [
    await today(),
    await search(person.lastName),
    await search(uuid),
    shown,
    (await browser.call('getPersonAtHubspot', { params: { id: String(id) } })).data,
    ...(await Promise.all(
      shown.letters.map(
        async (letter) => (await browser.call('getLetter', { params: { id: letter.id } })).data,
      ),
    )),
  ];
  assert.ok(
    shown.problems.some(({ text }) => text.startsWith(`Join 1 of Ann ${person.lastName} was paid by`)),
  );
  for (const answer of answers.map((each) => JSON.stringify(each).toLowerCase())) {
    for (const each of uuids) assert.ok(!answer.includes(each), answer);
    assert.doesNotMatch(answer, /_secret_/);
  }
  assert.doesNotMatch(JSON.stringify([shown.problems, shown.story, (await today()).notices]), UUID);
});

test('a uuid that is of no join stays as it is, and one of an erased join does not', async () => {
  const document = '7f9d1f2e-1111-4000-8000-000000000000';
  const { uuid } = await orderedPin();
  await sql`update join_session set erased_at = now() where uuid = ${uuid}`.execute(database);
  const text = `Document ${document} of join ${uuid} cannot be read.`;
  await notifyStaff(database, { kind: 'unreadable_document', subject: null, params: { text }, remedy: null });
  const { notices } = await today();
  const texts = notices.map((notice) => notice.text);
  assert.ok(texts.includes(`Document ${document} of an erased join cannot be read.`), texts.join('\n'));
});

test('a join that is still being paid has the same number wherever it is named', async () => {
  const [first, late] = [await orderedPin(), await orderedPin()];
  const [into, from] = [await idOf(first.uuid), await idOf(late.uuid)];
  await sql`update person set merged_into = ${into}, likeness = null, words = '' where id = ${from}`.execute(
    database,
  );
  for (const _ of [1, 2])
    await notifyStaff(database, {
      kind: 'certificate_name',
      subject: late.uuid,
      params: { letters: 'ش' },
      remedy: null,
    });
  await dueLetters(database, deps, [
    { kind: 'portal', sessionUuid: late.uuid, occasion: 'one' },
    { kind: 'portal', sessionUuid: late.uuid, occasion: 'two' },
  ]);
  await sql`update letter set refusal = '550 no', email = 'x@example.com' where session_uuid = ${late.uuid}`.execute(
    database,
  );
  const { joins, name, problems } = await personAt(into);
  assert.equal(joins.length, 2);
  assert.ok(
    problems[0]!.text.startsWith(`The certificate of join 2 of ${name} cannot be printed`),
    JSON.stringify(problems),
  );
  assert.deepEqual(
    problems.slice(1).map(({ text }) => text),
    ['The letter "Member portal" to x@example.com was refused: 550 no'],
  );
});

test('text from outside comes out as data, without characters that change how others look', async () => {
  const { uuid, client } = await orderedPin();
  await payOrder(server, client, uuid);
  const spoiled = 'Ann<b>&\u001b[2J\u202e\u2066\u0085\r\u2028';
  await sql`update person set details = jsonb_set(details, '{firstName}', ${JSON.stringify(spoiled)}::jsonb) where id = ${await idOf(uuid)}`.execute(
    database,
  );
  const params = { id: String(await idOf(uuid)) };
  await notifyStaff(database, {
    kind: 'certificate_name',
    subject: uuid,
    params: { letters: '\u202e\u0007x' },
    remedy: null,
  });
  const answers = [(await browser.call('getPerson', { params })).data, await search(uuid), await today()];
  assert.match(answers[0].name, /^Ann<b>&\[2J Unique/);
  for (const answer of answers) {
    const texts: string[] = [];
    JSON.stringify(answer, (_, value) => {
      if (typeof value === 'string') texts.push(value);
      return value;
    });
    assert.doesNotMatch(texts.join(''), /(?![\n\t])[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u);
  }
});

test('an erased person is not found, and their number leads to nobody', async () => {
  const person = somebody();
  const { uuid } = await newMember(server, 'LINCOLN2026', person);
  const id = await idOf(uuid);
  await postponeAll();
  await erasePerson(deps, await planOf(deps, await findPerson(deps, person.personalEmail), true));
  assert.deepEqual((await search(person.lastName)).rows, []);
  assert.equal((await browser.call('getPerson', { params: { id: String(id) } })).message, NOBODY);
});
/** Withdraws all unsent letters, because a join can be erased only if no work on it is under way. */
async function postponeAll(): Promise<void> {
  await sql`update letter set withdrawn_at = now() where sent_at is null`.execute(database);
}
