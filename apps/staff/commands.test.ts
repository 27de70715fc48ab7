import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeCommand, similarTo, USAGE } from './command.ts';
import { commands } from './commands.ts';

test('the usage of each command names its options, and no others', () => {
  for (const { usage, options = {} } of commands) {
    const named = new Set(usage.match(/--[a-z][a-z0-9-]*/g) ?? []);
    const own = Object.entries(options).map(([name, { default: byDefault }]) =>
      byDefault === true ? `--no-${name}` : `--${name}`,
    );
    assert.deepEqual([...named].sort(), own.sort(), usage);
  }
});

test('what is said of a command has lines of at most 80 columns', () => {
  for (const command of commands)
    for (const line of describeCommand(command, USAGE).split('\n')) assert.ok(line.length <= 80, line);
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
