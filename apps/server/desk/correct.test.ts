import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { sql } from 'kysely';
import { startDesk } from '../../../tests/harness/desk.ts';
import { deskPeopleOn } from '../../../tests/harness/deskPeople.ts';
import { newMember } from '../../../tests/harness/steps.ts';
import { sharedServer } from '../../../tests/harness/testServer.ts';
import { sendDue } from '../letters/sendLetters.ts';

const server = await sharedServer();
const { deps } = server;
const { database } = deps;
const desk = await startDesk(server);
after(() => desk.close());
const [robin, sam] = [await desk.signedIn('staff'), await desk.signedIn('staff')];
const { idOf, somebody, personAt } = deskPeopleOn(server);

async function member() {
  const person = somebody();
  const { uuid } = await newMember(server, 'LINCOLN2026', person);
  while (await sendDue(deps, deps.config.mail!));
  return { uuid, person, params: { id: String(await idOf(uuid)) } };
}
const correction = (details: object, ticks: object = {}) => ({
  details,
  sendAgain: false,
  endLinks: false,
  ...ticks,
});
const hasEndedLinks = async (uuid: string) =>
  (await sql`select from pass where session_uuid = ${uuid} and revoked_at is not null`.execute(database)).rows
    .length === 1;
const confirmations = async (uuid: string) => {
  const { rows } = await sql<{ email: string | null }>`
    select email from letter where session_uuid = ${uuid} and kind = 'confirmation' order by created_at`.execute(
    database,
  );
  return rows.length;
};

test('a correction is shown with all that follows, and what was ticked follows', async () => {
  const { uuid, person, params } = await member();
  const email = `new.${person.personalEmail}`;
  const details = { firstName: ' Anna ', personalEmail: email };
  const body = correction(details, { sendAgain: true, endLinks: true });
  const trial = await robin.call('correctPerson', { params, body: { ...body, trial: true } });
  assert.deepEqual(
    [trial.data.verb, trial.data.lines],
    [
      'Correct',
      [
        'First name: Ann → Anna',
        `Personal email: ${person.personalEmail} → ${email}`,
        'HubSpot is told within a minute.',
        'Links in letters already sent stop working.',
        'The certificate and press release show the new name from now on.',
        'Receipts that Stripe already sent went to the old address.',
        'Sent again: the confirmation.',
      ],
    ],
  );
  assert.equal(
    (await personAt(robin, Number(params.id))).email,
    person.personalEmail,
    'a trial changes nothing',
  );
  const { seen } = trial.data;
  const presses = await Promise.all(
    [robin, sam].map((browser) => browser.call('correctPerson', { params, body: { ...body, seen } })),
  );
  assert.deepEqual(presses.map(({ status }) => status).sort(), [200, 409]);
  const shown = await personAt(robin, Number(params.id));
  assert.deepEqual([shown.name, shown.email], [`Anna ${person.lastName}`, email]);
  assert.deepEqual([await hasEndedLinks(uuid), await confirmations(uuid)], [true, 2]);
  assert.deepEqual(
    shown.story
      .filter(({ isStaff }) => isStaff)
      .map(({ text }) => text)
      .sort(),
    ['Correct person (refused).', 'Corrected: firstName, personalEmail.'],
    'told once, with the press that came too late',
  );
});

test('links stay and nothing is sent if nobody ticked that, even if the email changes', async () => {
  const { uuid, person, params } = await member();
  const body = correction({ personalEmail: `new.${person.personalEmail}` });
  assert.equal((await robin.act('correctPerson', { params, body })).status, 200);
  assert.deepEqual([await hasEndedLinks(uuid), await confirmations(uuid)], [false, 1]);
  const again = await robin.act('correctPerson', { params, body });
  assert.deepEqual([again.status, again.message], [409, 'All of that is so already.']);
  const links = correction({}, { endLinks: true });
  assert.equal((await robin.act('correctPerson', { params, body: links })).status, 200);
  assert.equal(await hasEndedLinks(uuid), true);
});

test('a confirmation that somebody has sent again meanwhile is shown before it is sent once more', async () => {
  const { uuid, params } = await member();
  const body = correction({}, { sendAgain: true });
  const { data } = await robin.call('correctPerson', { params, body: { ...body, trial: true } });
  assert.equal((await sam.act('correctPerson', { params, body })).status, 200);
  const late = await robin.call('correctPerson', { params, body: { ...body, seen: data.seen } });
  assert.deepEqual([late.status, late.shown!.lines], [409, data.lines]);
  assert.equal(await confirmations(uuid), 2);
});

test('what is wrong in a field is said of that field, and nothing is lost', async () => {
  const { person, params } = await member();
  const wrong = { firstName: '', personalEmail: 'ann@', state: 'Nowhere', zipcode: 'x'.repeat(300) };
  const refused = await robin.act('correctPerson', { params, body: correction(wrong) });
  assert.equal(refused.status, 400);
  assert.deepEqual(refused.errors, {
    firstName: 'First name is required.',
    personalEmail: 'Invalid email address.',
    state: 'State/Province must be one of the chosen country.',
    zipcode: 'Zipcode must be 200 characters or fewer.',
  });
  const { data } = await robin.call('getCorrectable', { params });
  assert.deepEqual(
    [data.details.lastName, data.details.personalEmail, data.details.country, data.details.middleName],
    [person.lastName, person.personalEmail, 'United States', ''],
  );
});

test('who has not joined is corrected in HubSpot', async () => {
  await sql`insert into person (contact_id, profile) values ('770123', '{"firstName": "Inès"}')`.execute(
    database,
  );
  const { rows } = await sql<{ id: number }>`select id from person where contact_id = '770123'`.execute(
    database,
  );
  const params = { id: String(rows[0]!.id) };
  for (const { status, message } of [
    await robin.call('getCorrectable', { params }),
    await robin.act('correctPerson', { params, body: correction({ firstName: 'Ines' }) }),
  ]) {
    assert.equal(status, 409);
    assert.match(message!, /^Nobody has joined as this person yet/);
  }
});
