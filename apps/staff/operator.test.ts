import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { sql } from 'kysely';
import { runTyped } from '../../tests/harness/runCommand.ts';
import { runOperator, settingsOf } from '../../tests/harness/serverProcess.ts';
import { paidJoin } from '../../tests/harness/steps.ts';
import { temporaryFolder } from '../../tests/harness/temporaryFolder.ts';
import { sharedServer } from '../../tests/harness/testServer.ts';
import { transcriptsOn } from '../../tests/harness/transcripts.ts';
import { followPayment } from '../server/paying/refunds/followPayment.ts';

const server = await sharedServer();

const operator = (args: string[], env: NodeJS.ProcessEnv = {}) =>
  runOperator({ ...settingsOf(server), ...env }, args);

test('a database that was not migrated, and one that refuses us, are a sentence each', async () => {
  const address = new URL(server.deps.config.databaseUrl);
  address.password = 'wrong';
  const refused = await operator(['notices'], { DATABASE_URL: address.href });
  assert.equal(refused.code, 1);
  assert.match(refused.output, /password/);
  assert.doesNotMatch(refused.output, /\n +at /, refused.output);
  const away = await operator(['notices'], { DATABASE_URL: 'postgres://127.0.0.1:9/nothing' });
  assert.equal(away.code, 1);
  assert.match(away.output, /database/);
  assert.doesNotMatch(away.output, /\n +at /, away.output);
});

test('a file that cannot be read or written is told as one, and not as a database that is away', async (t) => {
  const { uuid } = await paidJoin(server, server.client());
  const folder = temporaryFolder(t);
  const cases: [args: string[], path: string][] = [
    [['certificate', uuid, join(folder, 'none/certificate.pdf')], join(folder, 'none/certificate.pdf')],
    [['person', 'erase', '--again', folder], ''],
    [['person', 'export', 'jordan.rivera@example.com', '--to', join(folder, 'x'.repeat(300))], folder],
  ];
  // Nobody can create a folder in /proc. On a system without /proc this case is left out.
  if (existsSync('/proc/self'))
    cases.push([['person', 'export', 'jordan.rivera@example.com', '--to', '/proc/new/folder'], '/proc/new']);
  for (const [args, path] of cases) {
    const { output, code } = await operator(args);
    assert.equal(code, 1, output);
    assert.match(output, /^A file could not be read or written \(E[A-Z]+\): .*\.$/m);
    assert.ok(output.includes(path), output);
    assert.doesNotMatch(output, /database|\n +at /, output);
  }
});

test('a command that there is not is told in a few lines, with the commands that begin with the same word', async () => {
  const { output, code } = await operator(['orders', 'send', 'no \u001b[31mscope']);
  assert.equal(code, 2);
  const [first, ...others] = output.trimEnd().split('\n');
  assert.equal(first, 'There is no command "orders send no [31mscope".');
  assert.ok(
    others.some((line) => line.startsWith('  orders list')),
    output,
  );
  const { output: misspelt } = await runOperator(settingsOf(server), ['refnd', 'x']);
  assert.match(misspelt, /^There is no command "refnd x"\.\n {2}refund JOIN [\s\S]*processing fee/);
  assert.equal(others.at(-1), 'All commands: npm run operator -- help');
  assert.ok(others.length < 12, output);
});

test('output that cannot be written is told in one sentence, and the command has failed', async (t) => {
  if (!existsSync('/dev/full')) return t.skip('This system has no /dev/full.');
  for (const args of [
    ['help'],
    ['ledger', '--from', '2026-01-01', '--to', '2026-01-31', '--csv'],
    ['orders', 'list', '--csv'],
    ['invitations', 'mint', '--count', '5'],
  ]) {
    const { output, code } = await runOperator(settingsOf(server), args, '/dev/full');
    assert.equal(code, 1, `${args.join(' ')}\n${output}`);
    assert.match(output, /^The output could not be written, or only in part: ENOSPC: .*\.$/m);
    assert.doesNotMatch(output, /\n +at /, output);
  }
});

test('a command whose output nobody reads to the end ends quietly', async () => {
  for (const args of [['help'], ['invitations', 'mint', '--count', '5000']]) {
    const { output, code } = await runOperator(settingsOf(server), args, 'a closed pipe');
    assert.deepEqual([output, code], ['', 1], args.join(' '));
  }
});

test('help for one command, asked for in any way, is its own lines', async () => {
  const settings = settingsOf(server);
  const { stdout, code } = await runOperator(settings, ['help', 'documents', 'reject']);
  assert.equal(code, 0);
  assert.match(stdout, /^Usage: npm run operator -- documents reject JOIN/);
  assert.doesNotMatch(stdout, /documents accept/);
  assert.equal((await runOperator(settings, ['documents', 'reject', '--help'])).stdout, stdout);
  assert.match((await runOperator(settings, ['help', 'orders'])).stdout, /orders list[\s\S]*orders unship/);
});

test('a command does not start when npm has taken an option for itself', async () => {
  const { uuid } = await paidJoin(server, server.client());
  for (const taken of [{ npm_config_dry_run: 'true' }, { npm_config_membership: '' }]) {
    const { output, code } = await operator(['refund', uuid, '--yes'], taken);
    assert.equal(code, 2);
    assert.match(
      output,
      /^npm has taken --(dry-run|no-membership) for itself, so nothing was done\. Put -- before/,
    );
  }
});

test('what cannot be taken back is shown, and not done without a terminal or --yes', async (t) => {
  const { uuid } = await transcriptsOn(server).uploaded();
  const { intent_id: intentId } = await server.deps.database
    .selectFrom('payment')
    .select('intent_id')
    .where('session_uuid', '=', uuid)
    .executeTakeFirstOrThrow();
  await server.stripe('POST', '/v1/refunds', { payment_intent: intentId, amount: '100' });
  await followPayment(server.deps, intentId);
  await sql`update letter set refusal = '550' where session_uuid = ${uuid} and kind = 'confirmation'`.execute(
    server.background,
  );
  const { uuid: refund } = await server.deps.database
    .selectFrom('refund')
    .select('uuid')
    .where('intent_id', '=', intentId)
    .executeTakeFirstOrThrow();
  const written = async () =>
    (
      await sql`select (select json_agg((uuid, status, amount_cents, lines)::text order by uuid) from refund where intent_id = ${intentId}) as refunds,
        (select json_agg(review) from document where session_uuid = ${uuid}) as documents,
        (select json_agg(refusal) from letter where session_uuid = ${uuid}) as letters,
        (select json_agg(standing) from membership where session_uuid = ${uuid}) as standings`.execute(
        server.background,
      )
    ).rows[0];
  const before = await written();
  // The commands run in this process, as if it had no terminal.
  const { isTTY } = process.stdin;
  process.stdin.isTTY = false;
  t.after(() => {
    process.stdin.isTTY = isTTY;
  });
  for (const [args, shown] of [
    [['refund', uuid, '--ineligible'], /would go back\./],
    [['refund', intentId], /of pi_\w+ would go back\./],
    [['refund', 'assign', refund, '--membership'], /Ends: Membership/],
    [['letters', 'retry', 'all'], /1 {2}confirmation/],
    [['documents', 'reject', uuid, '--reason', 'unreadable', '--final'], /would be rejected/],
  ] as const) {
    const { out, code } = await runTyped(t, server, args[0], args.slice(1));
    assert.equal(code, 1, out);
    assert.match(out, shown);
    assert.match(out, /^Nothing was \w+: say yes, or give --yes\.$/m);
    assert.deepEqual(await written(), before, args.join(' '));
  }
  const { output, code } = await operator(['refund', uuid]);
  assert.deepEqual(
    [code, /^Nothing was refunded: say yes, or give --yes\.$/m.test(output)],
    [1, true],
    output,
  );
  assert.deepEqual(await written(), before);
  const migrated = await operator(['migrate']);
  assert.deepEqual([migrated.code, migrated.output], [0, 'Nothing waits to be migrated.\n']);
});
