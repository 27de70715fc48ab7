import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { plain } from '#core/cleanText.ts';
import { temporaryFolder } from '../../tests/harness/temporaryFolder.ts';
import { npmSettings } from '../server/platform/config/config.ts';
import { commandNamed, describeCommand, Misuse, readArguments, similarTo, USAGE } from './command.ts';
import { commands } from './commands.ts';
import { swallowedOptions } from './swallowedOptions.ts';

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
  // npm reads `--csv` as three letters, of which the last is its own `-v`: it prints its version and starts nothing.
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
