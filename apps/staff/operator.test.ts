import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { sql } from 'kysely';
import { plain } from '#core/cleanText.ts';
import { runCommand, runTyped } from '../../tests/harness/runCommand.ts';
import { runOperator, settingsOf } from '../../tests/harness/serverProcess.ts';
import { paidJoin } from '../../tests/harness/steps.ts';
import { temporaryFolder } from '../../tests/harness/temporaryFolder.ts';
import { sharedServer } from '../../tests/harness/testServer.ts';
import { transcriptsOn } from '../../tests/harness/transcripts.ts';
import { followPayment } from '../server/paying/refunds/followPayment.ts';
import { npmSettings } from '../server/platform/config/config.ts';
import { fileFaultOf } from '../server/platform/fileFault.ts';
import { commandNamed, describeCommand, Misuse, readArguments, similarTo, USAGE } from './command.ts';
import { commands } from './commands.ts';
import { swallowedOptions } from './swallowedOptions.ts';

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
  const absent = join(folder, 'none/certificate.pdf');
  const { output, code } = await operator(['certificate', uuid, absent]);
  assert.equal(code, 1, output);
  assert.match(output, /^A file could not be read or written \(E[A-Z]+\): .*\.$/m);
  assert.ok(output.includes(absent), output);
  assert.doesNotMatch(output, /database|\n +at /, output);
  const email = 'jordan.rivera@example.com';
  for (const [name, args, path] of [
    ['person erase', ['--again', folder], ''],
    ['person export', [email, '--to', join(folder, 'x'.repeat(300))], folder],
    // Nobody can create a folder in /proc.
    ...(existsSync('/proc/self')
      ? [['person export', [email, '--to', '/proc/new/folder'], '/proc/new'] as const]
      : []),
  ] as const)
    await assert.rejects(runTyped(t, server, name, args), (error) => {
      assert.match(fileFaultOf(error)!, /^A file could not be read or written \(E[A-Z]+\): .*\.$/);
      return fileFaultOf(error)!.includes(path);
    });
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
  const { output, code } = await runOperator(settingsOf(server), ['orders', 'list', '--csv'], '/dev/full');
  assert.equal(code, 1, output);
  assert.match(output, /^The output could not be written, or only in part: ENOSPC: .*\.$/m);
  assert.doesNotMatch(output, /\n +at /, output);
});

test('a command whose output nobody reads to the end ends quietly', async () => {
  const args = ['invitations', 'mint', '--count', '5000'];
  const { output, code } = await runOperator(settingsOf(server), args, 'a closed pipe');
  assert.deepEqual([output, code], ['', 1]);
});

test('help for one command, asked for in any way, is its own lines', async () => {
  const settings = settingsOf(server);
  const { stdout, code } = await runOperator(settings, ['help', 'documents', 'reject']);
  assert.equal(code, 0);
  assert.match(stdout, /^Usage: npm run operator -- documents reject JOIN/);
  assert.doesNotMatch(stdout, /documents accept/);
  assert.equal((await runOperator(settings, ['documents', 'reject', '--help'])).stdout, stdout);
});

test('a command does not start when npm has taken an option for itself', async () => {
  const { uuid } = await paidJoin(server, server.client());
  const { output, code } = await operator(['refund', uuid, '--yes'], { npm_config_dry_run: 'true' });
  assert.equal(code, 2);
  assert.match(output, /^npm has taken --dry-run for itself, so nothing was done\. Put -- before/);
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
});

/** Tests that no command accepts an unknown id, or answers as if the id existed and had no data. */

const uuid = randomUUID();
const intent = 'pi_0Unknown0000000000000';
const contact = '987654399';
const file = join(tmpdir(), `induct-unknown-${uuid}.pdf`);

/** The words typed with an unknown id, for each command that takes an id. */
const unknown = [
  `contacts diff ${uuid}`,
  `contacts retry ${uuid}`,
  `person correct ${uuid} --email new@example.com`,
  `person correct ${contact} --email new@example.com`,
  `person merge ${uuid} 103`,
  `person merge 103 ${contact}`,
  `person unmerge ${uuid}`,
  `person keep-apart ${uuid} 103`,
  `person keep-apart 103 ${uuid}`,
  `links init ${contact}`,
  `links checkout ${contact}`,
  `links resume ${contact}`,
  `links revoke ${uuid}`,
  `find ${uuid}`,
  `find ${intent}`,
  `find ${contact}`,
  `certificate ${uuid} ${file}`,
  `story ${uuid}`,
  `refund ${uuid}`,
  `refund ${uuid} --ineligible`,
  `refund ${intent}`,
  `refund assign ${uuid}`,
  `refund assign ${uuid} --none`,
  'refund assign re_0Unknown000000000',
  `refunds accept ${uuid}`,
  `refunds decline ${uuid} --sentence no`,
  `settle ${uuid}`,
  `settle ${intent}`,
  `orders show ${uuid}`,
  `orders ship ${uuid}`,
  `orders unship ${uuid}`,
  `documents show ${uuid}`,
  `documents show ${contact}`,
  `documents add ${uuid} ${import.meta.filename}`,
  `documents accept ${uuid}`,
  `documents reject ${uuid} --reason outdated`,
  `documents reject ${uuid} --reason outdated --final`,
  `documents fetch ${uuid} ${file}`,
  `documents unknown fetch ${uuid} ${file}`,
  `documents unknown remove ${uuid}`,
  `letters list ${uuid}`,
  `letters show ${uuid}`,
  `letters retry ${uuid}`,
];

test('every command says of an id that does not exist that it does not', async (t) => {
  const isSaid =
    /there is no|no such|is there no|nobody was found|is known neither|neither .* knows?\b|knows? (nothing|no )|not (a |among |known|found)/i;
  const wrong: string[] = [];
  for (const typed of unknown) {
    const { out, code } = await runCommand(t, server, typed, []);
    if (code !== 1 || !isSaid.test(out)) wrong.push(`${typed} → ${code}: ${out}`);
  }
  assert.deepEqual(wrong, []);
});

test('every command that takes an id is asked for an unknown one', () => {
  const takes = commands.filter(({ usage }) =>
    /\b(JOIN|LETTER|DOCUMENT|KEY|REFUND|PAYMENT_INTENT|CONTACT(_ID)?)\b/.test(usage),
  );
  const asked = unknown.map((typed) => commandNamed(commands, typed.split(' '))!.command);
  assert.deepEqual(
    takes.filter((command) => !asked.includes(command)).map(({ usage }) => usage),
    [],
  );
});

const optionsOf = ({ flags = [], texts = {} }: (typeof commands)[number]) => [
  ...flags.map((name) => `--${name}`),
  ...Object.keys(texts).map((name) => `--${name}`),
];

test('the usage of each command names its options, and no others, in lines of at most 80 columns', () => {
  for (const command of commands) {
    const named = new Set(command.usage.match(/--[a-z][a-z0-9-]*/g) ?? []);
    assert.deepEqual([...named].sort(), optionsOf(command).sort(), command.usage);
    for (const line of describeCommand(command, USAGE).split('\n')) assert.ok(line.length <= 80, line);
  }
});

test('a command is named by its first words, the longest name is meant, and all that follows is its own', () => {
  for (const [typed, name, rest] of [
    ['ledger --from 2026-01-01', 'ledger', ['--from', '2026-01-01']],
    ['refund pi_1', 'refund', ['pi_1']],
    ['refund assign re_1 --none', 'refund assign', ['re_1', '--none']],
    ['documents unknown remove KEY', 'documents unknown remove', ['KEY']],
  ] as const) {
    const named = commandNamed(commands, typed.split(' '))!;
    assert.ok(named.command.usage.startsWith(`${name} `), typed);
    assert.deepEqual(named.rest, rest);
  }
  assert.equal(commandNamed(commands, ['refunds']), null);
});

test('a misspelt command is known by its name', () => {
  for (const [typed, meant] of [
    ['refnd', 'refund'],
    ['documents rejetc JOIN', 'documents reject'],
    ['leters retry all', 'letters retry'],
    ['migrat', 'migrate'],
    ['reconsile', 'reconcile'],
  ] as const) {
    const [first] = similarTo(commands, typed.split(' '));
    assert.ok(first?.usage.startsWith(meant), `${typed}: ${first?.usage}`);
  }
  assert.deepEqual(similarTo(commands, ['something', 'else']), []);
});

const join1 = '11111111-1111-4111-8111-111111111111';
test('arguments are read by their kinds, and what is of none is refused, with a reason where there is one', () => {
  const read = (typed: string) => {
    const { command, rest } = commandNamed(commands, typed.split(' '))!;
    try {
      return readArguments(command, rest);
    } catch (error) {
      if (!(error instanceof Misuse)) throw error;
      return error.message;
    }
  };
  const flags = { yes: false };
  assert.deepEqual(read(`links revoke ${join1.toUpperCase()}`), { args: [join1], options: {} });
  assert.deepEqual(read('letters retry all'), { args: ['all'], options: flags });
  assert.deepEqual(read('letters stop  Ann@Example.COM'), '', 'a word that is empty');
  assert.deepEqual(read('find Maria Lopez'), { args: ['Maria Lopez'], options: {} });
  assert.deepEqual(read('contacts account'), { args: [undefined], options: flags });
  for (const [typed, fault] of [
    ['letters retry', ''],
    ['letters retry all all', ''],
    ['letters show x', '"x" is not the id of a letter, as npm run operator -- letters list --all prints it.'],
    ['letters list x', '"x" is not the id of a join, as npm run operator -- find NAME prints it.'],
    ['ledger --from 2026-02-30 --to 2026-03-01', '"2026-02-30" is not a day: write it as 2026-11-30.'],
    ['ledger --from 2026-03-01', ''],
    [`person merge ${join1} 103 --yes --dry-run`, ''],
    [`orders ship ${join1} --item 1,x`, ''],
    [`orders ship ${join1} ${join1}`, ''],
    ['orders list x', ''],
    [`documents reject ${join1}`, ''],
    [`documents reject ${join1} --reason ugly`, ''],
    [`documents add ${join1}`, ''],
    [`refund ${join1} --items pin`, ''],
    ['settle x', '"x" is not the id of a join, as npm run operator -- find NAME prints it.'],
    ['notices --days 0', ''],
    ['backup', ''],
    ['backup a b', ''],
    ['letters stop x', ''],
    ['invitations list --limit some', '"some" is not a number.'],
  ] as const)
    assert.equal(read(typed), fault, typed);
  assert.match(read('letters list --al') as string, /--al/);
});

test('each option of each command that npm takes for itself is noticed, and none that is behind --', (t) => {
  const folder = temporaryFolder(t);
  const script = `node -e "console.log(JSON.stringify(process.env))" --`;
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ scripts: { show: script } }));
  const { PATH, HOME } = process.env;
  const handedOver = (...args: string[]) => {
    const printed = execFileSync('npm', ['run', '--silent', 'show', ...args], {
      cwd: folder,
      env: { PATH, HOME },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    return swallowedOptions(commands, npmSettings(JSON.parse(printed.toString()))).sort();
  };
  // npm reads `--csv` as three letters. The last one is npm's own option `-v`, so npm prints its version and starts nothing.
  const named = [...new Set(commands.flatMap(optionsOf))]
    .filter((name) => !['--csv', '--no-membership'].includes(name))
    .sort();
  const texts = new Set(commands.flatMap((command) => Object.keys(command.texts ?? {})));
  const typed = named.map((option) => (texts.has(option.slice(2)) ? `${option}=1` : option));
  assert.ok(named.includes('--dry-run') && named.includes('--yes'));
  assert.deepEqual(handedOver(...typed), named);
  assert.deepEqual(handedOver('--', ...typed), []);
  assert.deepEqual(handedOver('--no-membership'), ['--no-membership']);
  assert.deepEqual(handedOver('refund', 'JOIN'), []);
});

test('of what came from outside nothing makes another line, moves the cursor or turns the text', () => {
  const text = 'Rivera\r\n\t\u001b[2J\u009b31m\u0007\u2028\u2029\u061c\u200e\u200f\u202e\u2066, Zoë';
  assert.equal(plain(text), 'Rivera[2J31m, Zoë');
});

test('no sentence of a rule or a use case names a command or an option: each front door has words of its own', () => {
  const root = join(import.meta.dirname, '../..');
  const names = commands.flatMap(({ usage }) => /^[a-z]+ [a-z-]+/.exec(usage)?.[0] ?? []);
  const options = [...new Set(commands.flatMap(optionsOf))].map((option) => option.slice(2));
  const named = new RegExp(
    `npm run|operator --|\\b(${names.join('|')})\\b|(?<![\\w-])--(${options.join('|')})(?![\\w-])|\\b(same|this) command\\b`,
  );
  const faults: string[] = [];
  for (const path of globSync('{packages/core,apps/server}/**/*.ts', { cwd: root })) {
    if (path.endsWith('.test.ts')) continue;
    const code = readFileSync(join(root, path), 'utf8').replaceAll(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm, '');
    // The name of a task of the schedule.
    const [found] = named.exec(code.replaceAll("'contacts sync'", '')) ?? [];
    if (found) faults.push(`${path}: ${found}`);
  }
  assert.deepEqual(faults, []);
});
