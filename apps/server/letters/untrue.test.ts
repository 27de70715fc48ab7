import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { atStripe } from '../../../tests/harness/refunds.ts';
import { noticesOf } from '../../../tests/harness/rows.ts';
import { runCommand } from '../../../tests/harness/runCommand.ts';
import {
  beginPayment,
  openIntent,
  orderingJoin,
  paidJoin,
  payByCard,
  reportPayment,
} from '../../../tests/harness/steps.ts';
import { sharedServer } from '../../../tests/harness/testServer.ts';
import { postPdf } from '../../../tests/harness/uploads.ts';
import { documentsRejectCommand } from '../documents/commands.ts';
import { sweepPayments } from '../settlement/sweep.ts';
import { sendDue } from './sendLetters.ts';

/** Letters and notices must not say anything that is false, or not yet true. */
const server = await sharedServer();

test('no letter and no notice says that money was returned which Stripe does not return yet', async (t) => {
  const client = server.client();
  const personalEmail = 'returned@example.com';
  const { uuid, intentId } = await paidJoin(server, client, 'LINCOLN2026', { personalEmail });
  assert.equal((await postPdf(client, `/api/public/join-session/${uuid}/upload-transcript`)).status, 200);
  await server.stripeControl('refunds', { answer: 'refused' });
  const { out } = await runCommand(t, server, documentsRejectCommand, [
    uuid,
    '--reason',
    'below-requirement',
    '--final',
  ]);
  while (await sendDue(server.deps, server.deps.config.mail!));
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

test('who has become a member by another payment meanwhile is not sent back to pay the order that failed', async () => {
  const person = { personalEmail: 'failed.member@example.com' };
  const client = server.client();
  const uuid = await orderingJoin(client, 'LINCOLN2026', person);
  const intent = await openIntent(client, uuid);
  await beginPayment(client, uuid, intent.revision);
  await server.stripeControl('processing', { hold: true, intent: intent.id });
  await payByCard(server, intent.id);
  assert.equal((await reportPayment(client, uuid, intent)).data.status, 'processing');
  await paidJoin(server, server.client(), 'LINCOLN2026', person);
  await server.stripeControl(`payment_intents/${intent.id}/settle`, { declines: 'insufficient_funds' });
  await sql`update payment set looked_at = null, checked_at = now() - interval '1 hour' where intent_id = ${intent.id}`.execute(
    server.deps.database,
  );
  await sweepPayments(server.deps);
  while (await sendDue(server.deps, server.deps.config.mail!));
  const subjects = (await server.letters()).map(
    (letter) =>
      /subject: ([^\\\n]*)/i.exec(JSON.stringify(letter).replaceAll('\\r\\n', '\n'))?.[1] ??
      JSON.stringify(letter).slice(0, 300),
  );
  assert.ok(
    subjects.some((subject) => /confirmed/.test(subject)),
    JSON.stringify(subjects),
  );
  assert.deepEqual(
    subjects.filter((subject) => /did not go through/.test(subject)),
    [],
  );
});
