import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { sql } from 'kysely';
import { startDesk } from '../../../tests/harness/desk.ts';
import { deskPeopleOn } from '../../../tests/harness/deskPeople.ts';
import { newMember } from '../../../tests/harness/steps.ts';
import { sharedServer } from '../../../tests/harness/testServer.ts';
import { transcriptsOn } from '../../../tests/harness/transcripts.ts';
import { reviewTranscripts } from '../documents/review.ts';

const server = await sharedServer();
const { deps } = server;
const { database } = deps;
const desk = await startDesk(server);
after(() => desk.close());
const [staff, finance] = [await desk.signedIn('staff'), await desk.signedIn('finance')];
const { idOf, somebody } = deskPeopleOn(server);
const { lettersTo, upload } = transcriptsOn(server);

/** Makes a paid join with a transcript. */
async function uploaded() {
  const person = somebody();
  const { client, uuid } = await newMember(server, 'LINCOLN2026', person);
  assert.equal(await upload(client, uuid), 200);
  return { client, uuid, email: person.personalEmail, params: { id: String(await idOf(uuid)) } };
}

const reviewOf = async (uuid: string) => {
  const { rows } = await sql<{
    review: string;
  }>`select review from document where session_uuid = ${uuid}`.execute(database);
  return rows.map(({ review }) => review).join();
};
/** Makes the time pass during which a decision can be taken back. */
const aMinuteLater = () =>
  sql`update letter set next_try_at = next_try_at - interval '60 seconds', due_at = due_at - interval '60 seconds' where sent_at is null`.execute(
    database,
  );
const body = { join: 1 };

test('an acceptance shows its letter word for word, and sends it a minute later', async () => {
  const { uuid, email, params } = await uploaded();
  const trial = await staff.call('acceptTranscripts', { params, body: { ...body, trial: true } });
  const [what, to, letter] = trial.data.lines;
  assert.deepEqual([what, to], ['1 document would be accepted.', `This letter goes to ${email}:`]);
  assert.match(
    letter,
    /^Your transcript was accepted\n\nDear Ann,\n\nThank you: we have reviewed your transcript/,
  );
  assert.equal(trial.data.verb, 'Accept');
  assert.equal(await reviewOf(uuid), 'open');

  assert.equal((await staff.act('acceptTranscripts', { params, body })).status, 200);
  assert.equal(await reviewOf(uuid), 'accepted');
  assert.deepEqual(await lettersTo(email), []);
  await aMinuteLater();
  const [sent] = await lettersTo(email);
  for (const word of letter.replace(/\s+/g, ' ').split(' '))
    if (/^[\w.,:'-]+$/.test(word)) assert.ok(sent!.includes(word), word);
  const { data } = await staff.call('getPerson', { params });
  assert.ok(
    data.story.some(
      ({ text, by }: { text: string; by: string }) =>
        text === 'Transcript accepted.' && by === 'staff (Person 1)',
    ),
  );
});

test('a decision is taken back while its letter waits, and no letter goes; later it is not', async () => {
  const { uuid, email, params } = await uploaded();
  const reason = { ...body, reason: 'unreadable' };
  assert.equal((await staff.act('rejectTranscripts', { params, body: reason })).status, 200);
  assert.equal(await reviewOf(uuid), 'rejected');
  assert.equal((await staff.act('reopenTranscripts', { params, body })).status, 200);
  assert.equal(await reviewOf(uuid), 'open');
  await aMinuteLater();
  assert.deepEqual(await lettersTo(email), []);
  const { standing, decisions } = (await staff.call('getTranscript', { params: { ...params, join: '1' } }))
    .data;
  assert.equal(standing, 'open');
  assert.deepEqual(
    decisions.map(({ verdict }: { verdict: string }) => verdict),
    ['rejected', 'taken back'],
  );

  assert.equal((await staff.act('acceptTranscripts', { params, body })).status, 200);
  await aMinuteLater();
  assert.equal((await lettersTo(email)).length, 1);
  const late = await staff.act('reopenTranscripts', { params, body });
  assert.equal(late.status, 409);
  assert.match(late.message!, /^The letter about this decision is on its way/);
  assert.equal(await reviewOf(uuid), 'accepted');
});

test('what a colleague has decided meanwhile is said with who and when', async () => {
  const { uuid, params } = await uploaded();
  const seen = (await staff.call('acceptTranscripts', { params, body: { ...body, trial: true } })).data.seen;
  await reviewTranscripts({ ...deps, actor: 'Robin' }, uuid, { review: 'accepted' });
  const late = await staff.call('acceptTranscripts', { params, body: { ...body, seen } });
  assert.equal(late.status, 409);
  assert.match(late.message!, /^Already accepted by Robin at \d{2}:\d{2}\.$/);
  const other = await staff.call('rejectTranscripts', {
    params,
    body: { ...body, reason: 'outdated', trial: true },
  });
  assert.match(other.data.lines[0], /^Already accepted by Robin at \d{2}:\d{2}\.$/);
  await sql`update join_event set at = '2026-01-05T16:05:00Z' where session_uuid = ${uuid} and step = 'document_accepted'`.execute(
    database,
  );
  const again = await staff.call('acceptTranscripts', { params, body: { ...body, trial: true } });
  assert.equal(again.message, 'Already accepted by Robin on January 5, 2026 at 10:05.');
});

test('a file that comes while the dialog is open has to be seen', async () => {
  const { client, uuid, params } = await uploaded();
  const reason = { ...body, reason: 'incomplete' };
  const { seen } = (await staff.call('rejectTranscripts', { params, body: { ...reason, trial: true } })).data;
  assert.equal(await upload(client, uuid, 'page-2.pdf'), 200);
  const answer = await staff.call('rejectTranscripts', { params, body: { ...reason, seen } });
  assert.equal(answer.status, 409);
  assert.deepEqual(answer.shown!.lines.slice(0, 2), [
    '2 documents would be rejected.',
    'The applicant would read: Some pages of your transcript are missing. Please upload all of it in one file.',
  ]);
  assert.equal(await reviewOf(uuid), 'open,open');
  // If the button is pressed twice at the same time, only one decision is made.
  const now = answer.shown!.seen;
  const both = await Promise.all(
    [1, 2].map(() => staff.call('rejectTranscripts', { params, body: { ...reason, seen: now } })),
  );
  assert.deepEqual(both.map(({ status }) => status).sort(), [200, 409]);
});

test('a final rejection says what goes back and what ends, gives it back, and is not taken back', async () => {
  const { uuid, params } = await uploaded();
  const reason = { ...body, reason: 'below-requirement' };
  const trial = await finance.call('rejectFinally', { params, body: { ...reason, trial: true } });
  const { lines, verb } = trial.data;
  assert.equal(verb, 'Reject finally');
  assert.equal(lines[0], '1 document would be rejected.');
  assert.match(lines[2], /^\$65\.00 {2}Membership {2}\(pi_/);
  assert.ok(lines.includes('The membership ends: Membership.'));
  assert.deepEqual(lines.slice(-2), ['$65.00 would go back.', 'This cannot be taken back.']);
  assert.equal((await finance.act('rejectFinally', { params, body: reason })).status, 200);
  assert.equal(await reviewOf(uuid), 'rejected');
  const { data } = await finance.call('getTranscript', { params: { ...params, join: '1' } });
  assert.equal(data.standing, 'rejected finally');
  const answer = await finance.act('reopenTranscripts', { params, body });
  assert.equal(answer.status, 409);
  assert.match(answer.message!, /^The transcripts of join 1 of Ann \w+ were rejected finally/);
});

test('an unknown join or reason is refused in a sentence', async () => {
  const { params } = await uploaded();
  const trial = { ...body, trial: true };
  for (const [name, asked, status] of [
    ['acceptTranscripts', { ...trial, join: 9 }, 404],
    ['rejectTranscripts', { ...trial, reason: 'because' }, 400],
    ['reopenTranscripts', trial, 409],
  ] as const)
    assert.equal((await staff.call(name, { params, body: asked })).status, status, name);
});
