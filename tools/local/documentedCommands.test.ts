import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { commandNamed, Misuse, readArguments } from '../../apps/staff/command.ts';
import { commands } from '../../apps/staff/commands.ts';

// Checks that the program of every command in README.md, CONTRIBUTING.md, docs/ and lab/ would accept the command.

const root = resolve(import.meta.dirname, '../..');
const scripts: Record<string, string> = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).scripts;
const uuid = '11111111-1111-4111-8111-111111111111';
/** Values for the documents' placeholders in capitals. */
const typed: Record<string, string> = {
  ...{
    JOIN: uuid,
    SESSION: uuid,
    DOCUMENT: uuid,
    LETTER: uuid,
    REFUND: uuid,
    EMAIL: 'jordan@example.com',
    R: 'unreadable',
  },
  ...{
    CONTACT: '101',
    CONTACT_ID: '101',
    PAYMENT_INTENT: 'pi_1',
    FILE: 'no-such-file',
    URL: 'https://join.society.example/registration/102/init?exp=1&sig=1',
  },
};

interface Documented {
  page: string;
  text: string;
  /** Whether the code is inline, where a command may lack its arguments. */
  isInline: boolean;
}

/** Returns every piece of code of a page: lines of fenced blocks without trailing explanations, and inline code. */
function codeIn(page: string, markdown: string): Documented[] {
  const fences = /^ *```\w*\n([\s\S]*?)^ *```/gm;
  const lines = [...markdown.matchAll(fences)].flatMap(([, block]) => block!.split('\n'));
  const inline = [...markdown.replaceAll(fences, '').matchAll(/`([^`\n]+)`/g)].map(([, code]) => code!);
  return [
    ...lines.map((line) => ({ page, text: line.trim().split(/ {2,}| #| >/)[0]!, isInline: false })),
    ...inline.map((code) => ({ page, text: code.split(/ >/)[0]!, isInline: true })),
  ];
}

/**
 * Splits arguments as a shell does, with `$(…)` as one word. Placeholders in capitals get a value. From alternatives such as
 * `a|b`, takes the first.
 */
function argumentsOf(text: string): string[] {
  return [...text.matchAll(/"([^"]*)"|((?:\$\([^)]*\)|[^\s'])+)/g)].map(([, quoted, word]) => {
    if (quoted !== undefined) return quoted;
    const [first] = word!.split('|') as [string];
    return typed[first] ?? first;
  });
}

const pages = ['README.md', 'CONTRIBUTING.md', ...globSync('{docs,lab/*}/*.md', { cwd: root }).sort()];
const instruments = ['test', ...globSync('lab/*/main.ts', { cwd: root }).map((path) => path.split('/')[1]!)];
const documented = pages.flatMap((page) => codeIn(page, readFileSync(join(root, page), 'utf8')));

/** Whether the staff command line accepts these arguments. The command parses them, but does nothing. */
function isUnderstood(args: string[], { isInline }: Pick<Documented, 'isInline'>): boolean {
  if (args[0] === 'help') return true;
  const named = commandNamed(commands, args);
  if (!named) return false;
  const { command, rest } = named;
  if (isInline && rest.length === 0) return true;
  try {
    readArguments(command, rest);
    return true;
  } catch (error) {
    if (error instanceof Misuse) return false;
    throw error;
  }
}

test('every command of staff that the documents name is understood as it stands there', () => {
  const faults: string[] = [];
  let count = 0;
  for (const { page, text, isInline } of documented) {
    const [, given] =
      /(?:\boperator --|apps\/staff\/operator\.ts|\brun --rm (?:-T )?backup) +(?!…)(\S.*)/.exec(text) ?? [];
    if (!given) continue;
    count++;
    const [alone] = given.split(' && ') as [string];
    if (!isUnderstood(argumentsOf(alone), { isInline })) faults.push(`${page}: ${text}`);
  }
  assert.deepEqual(faults, []);
  assert.ok(count > 60, `only ${count} were found`);
});

test('every script that the documents name is one, and so is every instrument of the laboratory', () => {
  const faults: string[] = [];
  let count = 0;
  for (const { page, text } of documented)
    for (const [, run, word, instrument] of text.matchAll(
      /\bnpm (run )?(?:--silent )?([a-z][\w:-]*)(?: -- (\w+))?/g,
    )) {
      const ofNpm = ['install', 'ci', 'sbom', 'audit', 'exec'];
      count++;
      if (!(word! in scripts) && (run !== undefined || !ofNpm.includes(word!)))
        faults.push(`${page}: ${text}`);
      if (word === 'lab' && instrument && !instruments.includes(instrument)) faults.push(`${page}: ${text}`);
    }
  assert.deepEqual(faults, []);
  assert.ok(count > 60, `only ${count} were found`);
});

test('what is not real is noticed: a command, a flag, an argument too many, a script', () => {
  const understood = (text: string, isInline = false) => isUnderstood(argumentsOf(text), { isInline });
  assert.equal(understood('refund JOIN --dry-run'), true);
  for (const wrong of [
    'refunds JOIN',
    'refund JOIN --dryrun',
    'orders show JOIN JOIN',
    'refund',
    'migrate --planned',
  ])
    assert.equal(understood(wrong), false, wrong);
  assert.equal(understood('refund assign', true), true);
  assert.deepEqual(
    codeIn('', 'Say `npm run nothing`.\n```\nnpm run other   explained\n```').map(({ text }) => text),
    ['npm run other', '', 'npm run nothing'],
  );
});
