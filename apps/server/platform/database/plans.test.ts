import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, mock, test } from 'node:test';
import pg from 'pg';
import { deliver } from '../../../../tests/harness/deliver.ts';
import { pdf } from '../../../../tests/harness/documents.ts';
import { fillDatabase } from '../../../../tests/harness/fillDatabase.ts';
import {
  beginPayment,
  details,
  openIntent,
  orderingJoin,
  payByCard,
  reportPayment,
  startJoin,
} from '../../../../tests/harness/steps.ts';
import { onlyLong } from '../../../../tests/harness/testLength.ts';
import { type Client, startTestServer, type TestServer } from '../../../../tests/harness/testServer.ts';
import { catchUpOnEvents } from '../../books/catchUp.ts';
import { sweepPayments, sweepRefunds } from '../../books/sweep.ts';
import { syncContacts } from '../../crm/syncContacts.ts';
import { parcelRow, parcelsAt } from '../../desk/parcels.ts';
import { readToday } from '../../desk/today.ts';
import { listTranscripts, readTranscript } from '../../desk/transcripts.ts';
import { remindOfProof } from '../../documents/remindOfProof.ts';
import {
  dueProofs,
  reopenTranscripts,
  reviewTranscripts,
  waitingTranscripts,
} from '../../documents/review.ts';
import { sweepDocuments } from '../../documents/sweepDocuments.ts';
import { findPeople, peopleWaiting, searchPeople } from '../../joining/findJoins.ts';
import {
  explainCode,
  extendCode,
  listInvitations,
  withdrawCode,
} from '../../joining/invitations/invitations.ts';
import { hasInvitations, searchInvitations } from '../../joining/invitations/searchInvitations.ts';
import { sendDueLinks } from '../../joining/pass/sendLinks.ts';
import { joinsByDay, readNumbers } from '../../joining/readNumbers.ts';
import { notifyOfGuessing } from '../../joining/watchGuesses.ts';
import { sendDue } from '../../letters/sendLetters.ts';
import { shipLines, unshipLines } from '../../membership/shipOrder.ts';
import { refusalsOf } from '../../people/privacy/underWay.ts';
import { showPerson } from '../../people/showPerson.ts';
import { readFigures } from '../../running/gauges.ts';
import { readStory } from '../../session/readStory.ts';

/** The number of joins in the test's database. It is so high that the planner chooses a sequential scan only if no index fits. */
const SESSIONS = 50_000;
/** Statements may not scan all of a table or index with this many rows or more. A queue's partial index has fewer rows. */
const LARGE = 1_000;

let server: TestServer;
let database: pg.Client;
before(async () => {
  if (onlyLong) return;
  server = await startTestServer({ LIMITS: 'on' });
  database = new pg.Client({ connectionString: server.deps.config.databaseUrl });
  await database.connect();
  await fillDatabase(database, SESSIONS);
});
after(async () => {
  await database?.end();
  await server?.close();
});

const donation = '0b6f2f0e-58f1-4d38-9a4e-3f5a9f1f0021';
const pin = '0b6f2f0e-58f1-4d38-9a4e-3f5a9f1f0030';

interface Statement {
  text: string;
  values: unknown[];
}

const dayBefore = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);

/** Returns the statements that the server sends while `work` runs, each different text once. */
async function statementsOf(work: () => Promise<unknown>): Promise<Statement[]> {
  const statements = new Map<string, Statement>();
  const query = pg.Client.prototype.query as (...given: unknown[]) => unknown;
  const watched = mock.method(pg.Client.prototype, 'query', function (this: pg.Client, ...given: unknown[]) {
    const [first, second] = given as [string | Partial<Statement>, unknown];
    const text = typeof first === 'string' ? first : first.text;
    const values = typeof first === 'string' ? second : (first.values ?? second);
    // Other servers of this process have databases of their own.
    if (text && this !== database && this.database === database.database)
      statements.set(text, { text, values: Array.isArray(values) ? values : [] });
    return query.apply(this, given);
  });
  try {
    await work();
  } finally {
    watched.mock.restore();
  }
  return [...statements.values()].filter(({ text }) =>
    /^\s*(with|select|insert|update|delete)\b/i.test(text),
  );
}

interface PlanNode {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Name'?: string;
  'Index Cond'?: string;
  Plans?: PlanNode[];
}

/**
 * Returns the large tables of which a statement's plan scans every row, sequentially or through an index without a condition.
 * Explains the statement twice: with its values, and as a generic plan, which PostgreSQL may use for prepared statements.
 */
async function readWhole({ text, values }: Statement): Promise<string[]> {
  const { rows } = await database.query<{ relname: string }>(
    "select relname from pg_class where relkind in ('r', 'i') and reltuples >= $1",
    [LARGE],
  );
  const isLarge = (name: string | undefined) => rows.some(({ relname }) => relname === name);
  const wholes = (plan: PlanNode) =>
    nodesOf(plan).flatMap((node) => {
      const kind = node['Node Type'];
      const table = node['Relation Name'];
      if (kind === 'Seq Scan' && isLarge(table)) return [`${table} row by row`];
      if (/^Index (Only )?Scan/.test(kind) && isLarge(node['Index Name']) && node['Index Cond'] === undefined)
        return [`${table} by all of ${node['Index Name']}`];
      return [];
    });
  const now = wholes(await planOf({ text: `explain (format json) ${text}`, values }));
  const prepared = wholes(await planOf({ text: `explain (generic_plan, format json) ${text}` }));
  return [...new Set([...now, ...prepared.map((found) => `${found}, when prepared`)])];
}

async function planOf(query: pg.QueryConfig): Promise<PlanNode> {
  const { rows } = await database.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(query);
  return rows[0]!['QUERY PLAN'][0].Plan;
}

function nodesOf(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(nodesOf)];
}

async function assertByIndex(statements: readonly Statement[]): Promise<void> {
  const slow: string[] = [];
  for (const statement of statements)
    for (const found of await readWhole(statement))
      slow.push(`reads ${found}: ${statement.text.replace(/\s+/g, ' ').trim().slice(0, 300)}`);
  assert.deepEqual(slow, []);
}

async function pay(client: Client, uuid: string): Promise<{ id: string; clientSecret: string }> {
  const intent = await openIntent(client, uuid);
  await beginPayment(client, uuid, intent.revision);
  await payByCard(server, intent.id);
  return intent;
}

async function upload(client: Client, path: string, fields: Record<string, string> = {}): Promise<void> {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  form.append('file', new Blob([new Uint8Array(pdf())]), 'transcript.pdf');
  assert.equal((await client.fetch(path, { method: 'POST', body: form })).status, 200);
}

test('the statements of a whole join, from its invite code to its welcome, read by index', {
  skip: onlyLong,
}, async () => {
  const client = server.client();
  const statements = await statementsOf(async () => {
    const uuid = await startJoin(client, 'FILLED90');
    const params = { uuid };
    await client.call('getContact', { params });
    await client.call('submitDetails', { params, body: details() });
    await client.call('getMembershipDetails', { params });
    await client.call('setMembership', { params, body: { membershipId: 1 } });
    await openIntent(client, uuid);
    await client.call('setSessionProduct', { params, body: { productUuid: donation } });
    await client.call('setCustomDonation', { params, body: { amount: 12 } });
    const added = await client.call('setSessionProduct', { params, body: { productUuid: pin } });
    const { sessionProductUuid } = added.data;
    await client.call('deleteSessionProduct', {
      params: { sessionProductUuid: sessionProductUuid! },
      body: {},
    });
    const intent = await pay(client, uuid);
    assert.equal((await reportPayment(client, uuid, intent)).data.status, 'succeeded');
    await client.call('getUpgradeDetails', { params });
    await client.call('createUpgradeCharge', { params, body: { paymentIntent: intent.id } });
    await upload(client, `/api/public/join-session/${uuid}/upload-transcript`);
    await client.call('getDocuments', { params });
    const welcome = await client.call('getWelcome', { params });
    const { number } = welcome.data.papers!;
    assert.equal((await client.call('getPressRelease', { params })).status, 200);
    await client.call('setVerification', { params, body: { isVerifiable: true } });
    assert.equal((await client.call('verifyNumber', { params: { number } })).data.standing, 'valid');
    await client.call('verifyNumber', { params: { number: '0000-0000' } });
  });
  assert.ok(statements.length > 20, `only ${statements.length} statements were seen`);
  await assertByIndex(statements);
});

test('the statements of every other way to begin a join, and of a wrong code, read by index', {
  skip: onlyLong,
}, async () => {
  const client = server.client();
  const statements = await statementsOf(async () => {
    await startJoin(client, 'LINCOLN2026');
    await client.call('initiateSelfNomination', { body: { hasConfirmedEligibility: true } });
    await client.call('initJoin', { params: { id: '101' }, body: {} });
    await client.call('initiateCheckout', { body: { hubspotContactId: '102', mainProductId: 1 } });
    await client.call('checkEligibility', { body: { invitationCode: 'NOBODY1' } });
    await client.call('initiateSchoolJoin', { body: { invitationCode: 'NOBODY2' } });
    await upload(client, '/api/public/upload-resume', { contactId: '103' });
  });
  assert.ok(statements.length >= 10, `only ${statements.length} statements were seen`);
  // Leaves out the test's own statement, which makes all persons due.
  await assertByIndex(statements.filter(({ text }) => !text.includes('with waiting as')));
});

test('the statements of what runs in the background read by index', { skip: onlyLong }, async () => {
  const client = server.client();
  const left = await orderingJoin(client);
  const begun = await orderingJoin(client);
  await openIntent(client, left);
  await pay(client, begun);
  const { id: known } = (await database.query<{ id: string }>('select id from document limit 1')).rows[0]!;
  const statements = await statementsOf(async () => {
    await catchUpOnEvents(server.deps);
    await deliver(server);
    await database.query(
      "update payment set checked_at = case when session_uuid = any($1) then '-infinity'::timestamptz else now() end where status = 'open'",
      [[left, begun]],
    );
    assert.equal(await sweepPayments(server.deps), 1);
    await sweepRefunds(server.deps);
    await database.query(
      "insert into schedule (name, reached_at, cursor) values ('contacts sync', now(), null), ('contacts look', now(), '9999')",
    );
    await syncContacts(server.deps);
    await notifyOfGuessing(server.deps);
    await database.query(
      "insert into letter (kind, session_uuid, occasion) values ('reminder-hour', $1, 'left')",
      [left],
    );
    await sendDue(server.deps, server.deps.config.mail!);
    assert.ok((await server.letters()).length > 0);
    await sweepDocuments({
      ...server.deps,
      storage: {
        ...server.deps.storage,
        async *olderThan() {
          yield* [known, randomUUID()];
        },
      },
    });
  });
  assert.ok(statements.length >= 10, `only ${statements.length} statements were seen`);
  // Leaves out the test's own statement, which makes all persons due.
  await assertByIndex(statements.filter(({ text }) => !text.includes('with waiting as')));
});

test('the statements of opening a join by a link, proving oneself, and asking for one, read by index', {
  skip: onlyLong,
}, async () => {
  const uuid = await orderingJoin(server.client());
  const body = { token: new URL(server.deps.passes.address(uuid)).hash.slice(1) };
  const device = server.client();
  const statements = await statementsOf(async () => {
    await device.call('openPass', { body });
    await device.call('sendPassCode', { body });
    await device.call('provePassByCode', { body: { ...body, code: 'none' } });
    await device.call('provePassByName', { body: { ...body, lastName: 'Rivera', zipcode: '78701' } });
    await device.call('getOpenJoin', { params: { uuid } });
    const [token] = server.deps.stopLinks.pageAddress('person77@example.com').split('/').slice(-1);
    await device.call('getReminders', { params: { token: token! } });
    for (const areStopped of [true, false])
      await device.call('setReminders', { params: { token: token! }, body: { areStopped } });
    await device.call('sendPassLinks', { body: { email: 'person77@example.com' } });
    assert.equal(await sendDueLinks(server.deps), 1);
  });
  assert.ok(statements.length >= 10, `only ${statements.length} statements were seen`);
  // Leaves out the test's own statement, which makes all persons due.
  await assertByIndex(statements.filter(({ text }) => !text.includes('with waiting as')));
});

test('the statements with which staff find a join, and are told its story, read by index', {
  skip: onlyLong,
}, async () => {
  const { rows } = await database.query<{ uuid: string; intent_id: string }>(
    "select session_uuid as uuid, intent_id from payment where status = 'succeeded' limit 1",
  );
  const { uuid, intent_id } = rows[0]!;
  const statements = await statementsOf(async () => {
    for (const text of [
      uuid,
      intent_id,
      'person77@example.com',
      'FILLED90',
      '100000090',
      'SCHOOL1000',
      '0000-0001',
      'first77 last77',
    ])
      assert.ok((await findPeople(server.deps, text, 20)).joins.length > 0, text);
    await readStory(server.deps, uuid);
  });
  assert.ok(statements.length >= 7, `only ${statements.length} statements were seen`);
  await assertByIndex(statements);
});

test('the statements with which staff look at invite codes and change them read by index', {
  skip: onlyLong,
}, async () => {
  const statements = await statementsOf(async () => {
    let listed = 0;
    for await (const _ of listInvitations(server.deps.database)) listed++;
    assert.ok(listed > LARGE);
    await explainCode(server.deps, 'FILLED91');
    await explainCode(server.deps, 'FILLED9O');
    await withdrawCode({ ...server.deps, actor: 'Staff' }, 'FILLED91');
    await extendCode(server.deps, 'FILLED91', '2099-06-30');
    for (const filter of [
      {},
      { text: 'FILLED90' },
      { text: 'last77' },
      { school: 'school 1000' },
      { programme: 'high-school', state: 'unused' },
      { campaign: 'Spring' },
      { state: 'withdrawn' },
      { state: 'used', lastDay: '2027-06-30' },
    ] as const) {
      const { next } = await searchInvitations(server.deps, filter, { most: 2, after: null });
      const after = next ?? { micros: '1700000000000000', code: 'A' };
      await searchInvitations(server.deps, filter, { most: 2, after });
    }
    await hasInvitations(server.deps.database);
  });
  assert.ok(statements.length >= 7, `only ${statements.length} statements were seen`);
  await assertByIndex(statements);
});

test('the statements with which staff decide on transcripts read by index, and so does what an erasure asks of a join', {
  skip: onlyLong,
}, async () => {
  const client = server.client();
  const uuid = await startJoin(client, 'FILLED190');
  await client.call('submitDetails', { params: { uuid }, body: details() });
  await client.call('setMembership', { params: { uuid }, body: { membershipId: 1 } });
  const intent = await pay(client, uuid);
  assert.equal((await reportPayment(client, uuid, intent)).data.status, 'succeeded');
  await upload(client, `/api/public/join-session/${uuid}/upload-transcript`);
  const statements = await statementsOf(async () => {
    assert.ok((await waitingTranscripts(server.deps)).length > 0);
    assert.deepEqual(await refusalsOf(server.deps.database, [uuid]), [
      `Join ${uuid} is not erased: its transcript waits for a decision.`,
    ]);
    await reviewTranscripts(server.deps, uuid, { review: 'rejected', reason: 'outdated' });
    await reviewTranscripts(server.deps, uuid, { review: 'rejected', reason: 'unreadable' });
    await reviewTranscripts(server.deps, uuid, { review: 'accepted' });
    await reopenTranscripts(server.deps, uuid);
  });
  assert.ok(statements.length >= 10, `only ${statements.length} statements were seen`);
  // Leaves out the test's own statement, which makes all persons due.
  await assertByIndex(statements.filter(({ text }) => !text.includes('with waiting as')));
});

test('the statements with which parcels are listed and sent read by index', { skip: onlyLong }, async () => {
  const sent: string[] = [];
  const statements = await statementsOf(async () => {
    for (const tab of ['to-send', 'held', 'sent'] as const) {
      const { next } = await parcelsAt(server.deps, tab, { most: 2, after: null });
      await parcelsAt(server.deps, tab, { most: 2, after: next ?? { micros: '1', id: '1' } });
    }
    const { parcels } = await parcelsAt(server.deps, 'to-send', { most: 200, after: null });
    assert.equal(parcels.length, 200);
    for (const parcel of parcels.slice(0, 2)) {
      assert.equal(parcelRow(server.deps, parcel).goods[0]!.name, 'Honor Cord');
      const deps = { ...server.deps, actor: 'Staff' };
      const lines = parcel.goods.map((each) => ({ ...each, note: null }));
      await shipLines(deps, parcel.uuid, { lines, withHeld: false });
      sent.push(parcel.uuid);
    }
    await unshipLines(
      { ...server.deps, actor: 'Staff' },
      sent[0]!,
      (await parcelsAt(server.deps, 'sent', { most: 2, after: null })).parcels.find(
        ({ uuid }) => uuid === sent[0],
      )!.goods,
    );
  });
  assert.ok(statements.length >= 8, `only ${statements.length} statements were seen`);
  await assertByIndex(statements);
});

test('the statements of the desk, for the lists of transcripts and one of them, read by index', {
  skip: onlyLong,
}, async () => {
  const statements = await statementsOf(async () => {
    for (const tab of ['decide', 'overdue', 'decided'] as const) {
      const { rows, next } = await listTranscripts(server.deps, tab, { after: null, most: 1 });
      assert.equal(rows.length, 1, tab);
      if (next) await listTranscripts(server.deps, tab, { after: next, most: 50 });
      await readTranscript(server.deps, rows[0]!);
    }
    const [due] = await dueProofs(server.deps, { most: 1 });
    assert.equal((await remindOfProof(server.deps, [due!.uuid])).reminded.length, 1);
  });
  assert.ok(statements.length >= 10, `only ${statements.length} statements were seen`);
  // Leaves out the test's own statement, which makes all persons due.
  await assertByIndex(statements.filter(({ text }) => !text.includes('with waiting as')));
});

test('the statements of the desk, for Today, a search, a person and a day’s numbers, read by index', {
  skip: onlyLong,
}, async () => {
  const { rows } = await database.query<{ id: number }>(
    "select person_id::int as id from join_session where state = 'paid' and uuid in (select session_uuid from document) limit 1",
  );
  const statements = await statementsOf(async () => {
    await readToday(server.deps);
    for (const text of [
      'person77@example.com',
      'FILLED90',
      '100000090',
      'SCHOOL1000',
      'first77 last77',
      '4242 65',
    ])
      assert.ok((await searchPeople(server.deps, text, { most: 50 })).rows.length > 0, text);
    const [row] = (await searchPeople(server.deps, 'first77', { most: 1 })).rows;
    await searchPeople(server.deps, 'first77', {
      most: 50,
      after: { micros: String(Date.now() * 1_000), id: row!.id },
    });
    for (const queue of ['letters', 'hubspot', 'refunds'] as const)
      await peopleWaiting(server.deps, queue, { most: 50 });
    assert.ok((await showPerson(server.deps, rows[0]!.id))!.joins.length > 0);
    const at = dayBefore(400);
    for (const by of ['day', 'campaign'] as const)
      assert.ok((await readNumbers(server.deps, { from: at, to: at, by }, 500)).total.started > 0);
    await joinsByDay(server.deps, { from: at, to: at });
    await joinsByDay(server.deps, { from: dayBefore(365), to: dayBefore(0) });
  });
  assert.ok(statements.length >= 20, `only ${statements.length} statements were seen`);
  await assertByIndex(statements);
});

test('the numbers of two years are of all invitations, and read none of them', {
  skip: onlyLong,
}, async () => {
  const period = { from: dayBefore(800), to: dayBefore(-1) };
  const { rows } = await database.query<{ count: number }>('select count(*)::int from invitation');
  for (const by of ['day', 'programme', 'school'] as const) {
    let invited = 0;
    const statements = await statementsOf(async () => {
      invited = (await readNumbers(server.deps, { ...period, by }, 500)).total.invited;
    });
    assert.equal(invited, rows[0]!.count, by);
    for (const { text, values } of statements)
      for (const plan of [
        await planOf({ text: `explain (format json) ${text}`, values }),
        await planOf({ text: `explain (generic_plan, format json) ${text}` }),
      ])
        assert.ok(
          nodesOf(plan).every((node) => node['Relation Name'] !== 'invitation'),
          by,
        );
  }
});

test('what the metrics take from the database is one statement, and costs what waits', {
  skip: onlyLong,
}, async () => {
  const statements = await statementsOf(() => readFigures(server.deps));
  assert.equal(statements.length, 1);
  await assertByIndex(statements);
});
