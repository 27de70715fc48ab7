import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { pathOf } from '#contract/calls.ts';
import { identityMetadata } from '#core/intentText.ts';
import { letterKinds } from '#core/letterKinds.ts';
import { atHubspot, contactIdOf, deliver, setDelivery } from '../../tests/harness/deliver.ts';
import { writeNotice } from '../../tests/harness/rows.ts';
import { runCommand } from '../../tests/harness/runCommand.ts';
import { sampleLetter, sampleNow, sampleWriting } from '../../tests/harness/sampleLetters.ts';
import { details, paidJoin } from '../../tests/harness/steps.ts';
import { sharedServer } from '../../tests/harness/testServer.ts';
import { postPdf } from '../../tests/harness/uploads.ts';
import { queueForHubspot } from '../server/crm/queuePersonsForHubspot.ts';
import { compose } from '../server/letters/compose.ts';
import { pressReleaseOf, readMember } from '../server/membership/member.ts';
import { releaseText } from '../server/membership/pressRelease.ts';
import { messageOf } from '../server/providers/mail/client.ts';

/**
 * Text that leaves Induct (to staff's terminal, letters, HubSpot, Stripe, CSV files or papers) contains no control characters,
 * even if the database does.
 */
const server = await sharedServer();
const CONTROLS = /(?![\n\t])[\p{Cc}\p{Bidi_Control}]/u;
const hostile = (name: string) => `${name}\u001b[2J\u001b]0;x\u0007\u202e\u2066\u0085\u009b31m\r`;

const client = server.client();
const person = { firstName: 'Ann', lastName: 'Lee', personalEmail: 'ann.lee@example.com' };
const { uuid, intentId } = await paidJoin(server, client, 'HONOR103', person);
await postPdf(client, pathOf('uploadTranscript', { uuid }));
await deliver(server);
const spoiled = Object.fromEntries(
  Object.entries(details(person)).map(([field, value]) => [
    field,
    typeof value === 'string' && value !== '' && field !== 'personalEmail' ? hostile(value) : value,
  ]),
);
await sql`update join_session set details = ${JSON.stringify(spoiled)}::jsonb where uuid = ${uuid}`.execute(
  server.deps.database,
);
await sql`update person set details = ${JSON.stringify(spoiled)}::jsonb where contact_id = '103'`.execute(
  server.deps.database,
);
await queueForHubspot(server.deps.database, uuid);
await sql`update document set name = ${hostile('transcript.pdf')}`.execute(server.deps.database);
await writeNotice(server, `Join ${uuid} of ${hostile('Ann')} is one.`);

const today = new Date().toISOString().slice(0, 10);
await setDelivery(server, uuid, sql`refusal = ${hostile('no scope')}`);

/** The commands that print text from joiners or providers. */
const printing = [
  'find Lee',
  `story ${uuid}`,
  'notices',
  'contacts failed',
  `contacts diff ${uuid}`,
  `documents show ${uuid}`,
  'documents list',
  'documents due',
  'orders list --all',
  'orders list --csv',
  `orders show ${uuid}`,
  `ledger --from ${today} --to ${today} --csv`,
  `ledger --from ${today} --to ${today}`,
  `letters list ${uuid}`,
  `refund ${uuid} --dry-run`,
];
test('no command prints control characters of a name', async (t) => {
  for (const typed of printing) {
    const { out, code } = await runCommand(t, server, typed, []);
    assert.notEqual(code, 2, out);
    assert.doesNotMatch(out.replaceAll('\r\n', '\n'), CONTROLS, typed);
  }
});

test('no letter has them, in its header, its text or its HTML', async () => {
  for (const kind of letterKinds) {
    const mail = compose(sampleWriting(), sampleLetter(kind, { firstName: hostile('Ann') }), sampleNow)!;
    for (const text of [mail.subject, mail.text, mail.html, mail.to])
      assert.doesNotMatch(text, CONTROLS, kind);
    const [head = ''] = (await messageOf(mail)).toString('latin1').split('\r\n\r\n');
    assert.doesNotMatch(head.replaceAll('\r\n', '\n'), CONTROLS);
  }
});

test('HubSpot is told none', async () => {
  await deliver(server);
  const contact = await contactIdOf(server, uuid);
  const properties = await atHubspot(server, contact, 'firstname', 'lastname', 'city', 'address');
  assert.match(properties.city ?? '', /^Austin/);
  assert.doesNotMatch(Object.values(properties).join(''), CONTROLS);
});

test('Stripe and papers have none', async () => {
  const names = { firstName: hostile('Ann'), lastName: hostile('Lee'), school: hostile('School') };
  const identity = { origin: 'school', programme: 'high-school', contactId: null, ...names };
  assert.doesNotMatch(JSON.stringify(Object.values(identityMetadata(identity))), /\\u00|\u202e/);
  const member = await readMember(server.deps, uuid, {
    holding: { began: false, proven: false, paid: true },
  });
  assert.doesNotMatch(member.name, CONTROLS);
  assert.doesNotMatch(releaseText(pressReleaseOf(server.deps, member)), CONTROLS);
  assert.ok(intentId);
});
