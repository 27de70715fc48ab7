import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { sql } from 'kysely';
import { newContact } from '../../../tests/harness/deliver.ts';
import { startDesk } from '../../../tests/harness/desk.ts';
import { deskPeopleOn } from '../../../tests/harness/deskPeople.ts';
import { newMember } from '../../../tests/harness/steps.ts';
import { sharedServer } from '../../../tests/harness/testServer.ts';
import { previewLink } from '../joining/links/previewLink.ts';
import { dueLetters } from '../letters/dueLetters.ts';
import { sendDue } from '../letters/sendLetters.ts';
import { refundJoin } from '../paying/refunds/refundJoin.ts';
import { NO_LETTER } from './peopleRoutes.ts';

const server = await sharedServer();
const { deps } = server;
const { database } = deps;
const desk = await startDesk(server);
after(() => desk.close());
const [robin, sam] = [await desk.signedIn('staff'), await desk.signedIn('staff')];
const { idOf, somebody, orderedPin, personAt } = deskPeopleOn(server);

const sendAll = async () => {
  while (await sendDue(deps, deps.config.mail!));
};
async function member() {
  const person = somebody();
  const { uuid } = await newMember(server, 'LINCOLN2026', person);
  await sendAll();
  const params = { id: String(await idOf(uuid)) };
  const { letters } = await personAt(robin, Number(params.id));
  return { uuid, person, params, confirmation: letters.find(({ kind }) => kind === 'Confirmation')!.id };
}
async function sentTo(params: { id: string }, kind: string) {
  await sendAll();
  const { letters } = await personAt(robin, Number(params.id));
  return letters.filter((letter) => letter.kind === kind && letter.state === 'sent').map(({ to }) => to);
}

test('a letter is sent again, to the address of now or to another, once for each press', async () => {
  const { params, person, confirmation } = await member();
  const body = { letter: confirmation, to: null };
  const { data } = await robin.call('sendLetter', { params, body: { ...body, trial: true } });
  assert.equal(data.verb, 'Send again');
  assert.match(data.lines[0], new RegExp(`^“.*” goes to ${person.personalEmail}\\.$`));
  const presses = await Promise.all(
    [robin, sam].map((browser) => browser.call('sendLetter', { params, body: { ...body, seen: data.seen } })),
  );
  assert.deepEqual(presses.map(({ status }) => status).sort(), [200, 409]);
  assert.deepEqual(await sentTo(params, 'Confirmation'), [person.personalEmail, person.personalEmail]);

  const other = { letter: confirmation, to: ' <parent@example.com> ' };
  const shown = await robin.call('sendLetter', { params, body: { ...other, trial: true } });
  assert.match(shown.data.lines[0], / goes to parent@example\.com\.$/);
  assert.match(shown.data.lines[1], /^A link in it opens the join/);
  assert.equal((await robin.act('sendLetter', { params, body: other })).status, 200);
  assert.ok((await sentTo(params, 'Confirmation')).includes('parent@example.com'));
});

test('what holds no more, a code, a reminder and a letter of somebody else are not sent again', async () => {
  const { uuid, params, confirmation } = await member();
  const stranger = await member();
  await dueLetters(database, deps, [
    { kind: 'code', sessionUuid: uuid, occasion: 'salt' },
    { kind: 'reminder-hour', sessionUuid: uuid, occasion: 'left' },
  ]);
  const { letters } = await personAt(robin, Number(params.id));
  const idOfKind = (kind: string) => letters.find((letter) => letter.kind === kind)!.id;
  await refundJoin(deps, uuid, { membership: true, ineligible: false, upgrade: false, items: 'none' });
  for (const [letter, status, sentence] of [
    [idOfKind('Code'), 409, /asks for a new one/],
    [idOfKind('Reminder after an hour'), 409, /by itself/],
    [idOfKind('Member portal'), 409, /not been sent yet/],
    [confirmation, 409, /does not hold any more/],
    [stranger.confirmation, 404, new RegExp(NO_LETTER)],
  ] as const) {
    const answer = await robin.act('sendLetter', { params, body: { letter, to: null } });
    assert.deepEqual([answer.status, sentence.test(answer.message!)], [status, true], answer.message!);
  }
  const wrong = { letter: stranger.confirmation, to: 'parent@' };
  const refused = await robin.act('sendLetter', { params: stranger.params, body: wrong });
  assert.deepEqual(
    [refused.status, refused.errors],
    [400, { to: 'No letter could be written to this address.' }],
  );
});

test('a refused letter that is sent to another address is a problem no more', async () => {
  const { uuid, params, confirmation } = await member();
  await sql`update letter set sent_at = null, refusal = '550 no such user' where id = ${confirmation}`.execute(
    database,
  );
  const problems = async () => (await personAt(robin, Number(params.id))).problems.length;
  assert.equal(await problems(), 1);
  const body = { letter: confirmation, to: 'ann.better@example.com' };
  const { data } = await robin.call('sendLetter', { params, body: { ...body, trial: true } });
  assert.ok(data.lines.includes('The mail server refused it before: 550 no such user'));
  assert.equal((await robin.act('sendLetter', { params, body })).status, 200);
  assert.deepEqual([await sentTo(params, 'Confirmation'), await problems()], [['ann.better@example.com'], 0]);
  assert.ok(uuid);
});

test('the link to a join is mailed to its joiner, and none that opens nothing', async () => {
  const { uuid, person } = await orderedPin();
  const params = { id: String(await idOf(uuid)) };
  const body = { join: 1 };
  const { data } = await robin.call('sendJoinLink', { params, body: { ...body, trial: true } });
  assert.deepEqual(data.lines, [`The link goes to ${person.personalEmail}. It opens join 1 for 30 days.`]);
  const presses = await Promise.all(
    [robin, sam].map((browser) =>
      browser.call('sendJoinLink', { params, body: { ...body, seen: data.seen } }),
    ),
  );
  assert.deepEqual(presses.map(({ status }) => status).sort(), [200, 409]);
  assert.deepEqual(await sentTo(params, 'Link to the join'), [person.personalEmail]);
  const ended = await member();
  await refundJoin(deps, ended.uuid, { membership: true, ineligible: false, upgrade: false, items: 'none' });
  const refused = await robin.act('sendJoinLink', { params: ended.params, body });
  assert.match(refused.message!, /^Links open this join no more/);
});

test('reminders are stopped, and links that were mailed before end', async () => {
  const { uuid, person } = await orderedPin();
  const params = { id: String(await idOf(uuid)) };
  const stopped = await robin.act('stopReminders', { params });
  assert.equal(stopped.status, 200);
  const { rows } = await sql`
    select from reminder_stop where email_hash = ${deps.stopLinks.hash(person.personalEmail)}`.execute(
    database,
  );
  assert.equal(rows.length, 1);
  assert.equal((await robin.act('stopReminders', { params })).message, 'Reminders are stopped already.');

  const token = new URL(deps.passes.address(uuid)).hash.slice(1);
  assert.equal((await server.client().call('openPass', { body: { token } })).status, 200);
  assert.equal((await robin.act('endLinks', { params })).status, 200);
  assert.notEqual((await server.client().call('openPass', { body: { token } })).status, 200);
});

const wanted = { kind: 'start', product: null, dollars: '', upgrade: null, days: 30 };
test('a link is made for a person’s contact, and does what was shown', async () => {
  const contact = await newContact(server, 'linked@example.com', { firstname: 'Lin', lastname: 'Ked' });
  await deps.contacts.refresh(contact);
  const { rows } = await sql<{ id: number }>`select id from person where contact_id = ${contact}`.execute(
    database,
  );
  const params = { id: String(rows[0]!.id) };
  const { data } = await robin.call('getLinkProducts');
  const product = data.products.find(({ id }: { id: number }) => id === 1);
  assert.deepEqual(
    data.products.map(({ name }: { name: string }) => name),
    [
      'Membership (Honor Scholars)',
      'Membership with Honor Cord',
      'Membership (Honor Collegians)',
      'Distinguished Member upgrade (Honor Scholars)',
      'Distinguished Member upgrade (Honor Collegians)',
    ],
  );
  assert.ok(product.floorCents <= product.priceCents);
  for (const [body, does] of [
    [wanted, 'starts a join'],
    [{ ...wanted, kind: 'resume', days: 7 }, 'takes a resume'],
    [
      { ...wanted, kind: 'checkout', product: product.id, dollars: '$60' },
      'sells Membership at $60.00, then offers ',
    ],
  ] as const) {
    const trial = await robin.call('makeLink', { params, body: { ...body, trial: true } });
    assert.equal(trial.data.lines[0], `For Lin Ked (contact ${contact}).`);
    assert.ok(trial.data.lines[1].startsWith(`The link ${does}`), trial.data.lines[1]);
    const made = await robin.act('makeLink', { params, body });
    assert.equal((await previewLink(deps, new URL(made.data.url))).isGood, true);
  }
  for (const [dollars, status] of [
    ['1', 409],
    ['cheap', 400],
    ['', 200],
  ] as const) {
    const answer = await robin.act('makeLink', {
      params,
      body: { ...wanted, kind: 'checkout', product: product.id, dollars },
    });
    assert.equal(answer.status, status, answer.message!);
    if (status === 400) assert.ok(answer.errors!.dollars);
    if (status === 409) assert.match(answer.message!, /it could sell nothing.*floor \$/s);
  }
});

test('no link is made for who has no contact, or for a member', async () => {
  const { params } = await member();
  assert.match(
    (await robin.act('makeLink', { params, body: wanted })).message!,
    /^This person has no contact/,
  );
  const { uuid } = await newMember(server, 'HONOR103', somebody());
  const held = { id: String(await idOf(uuid)) };
  assert.match((await robin.act('makeLink', { params: held, body: wanted })).message!, /is a member already/);
});
