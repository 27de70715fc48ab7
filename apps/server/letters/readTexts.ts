import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type LetterKind, letterKinds } from '#core/letterKinds.ts';
import { serverFolder } from '../platform/serverFolder.ts';
import { SocietyFaults } from '../society/readSociety.ts';
import { isNotAlwaysThere, isPage, isTable, placeholdersOf } from './placeholders.ts';

/** The text of a letter, with `{name}` where a value is filled in. */
export interface LetterText {
  subject: string;
  blocks: readonly TextBlock[];
}
export type TextBlock =
  | { is: 'paragraph'; text: string }
  | { is: 'list'; items: readonly string[] }
  | { is: 'button'; label: string; page: string }
  | { is: 'table'; table: string };
export type LetterTexts = Record<LetterKind, LetterText>;

const ours = join(serverFolder, '../../society/letters');

/**
 * Reads the text of every letter: the society's own text from `letters/` next to its society file or, if there is none, our
 * default. Throws {@link SocietyFaults} with all faults, each with its file and line.
 */
export function readLetterTexts(societyFile: string): LetterTexts {
  const own = join(dirname(societyFile), 'letters');
  const named = existsSync(own) ? globSync('*.md', { cwd: own }).filter((name) => name !== 'README.md') : [];
  const isKind = (name: string) => letterKinds.some((kind) => name === `${kind}.md`);
  const faults = named
    .filter((name) => !isKind(name))
    .map((name) => `${join(own, name)}: there is no such letter. There are ${letterKinds.join(', ')}.`);
  const texts = letterKinds.map((kind) => {
    const name = `${kind}.md`;
    const file = join(named.includes(name) ? own : ours, name);
    const read = parseLetter(readFileSync(file, 'utf8'), kind);
    faults.push(...read.faults.map(({ line, text }) => `${file}:${line}: ${text}`));
    return [kind, read.letter];
  });
  if (faults.length > 0) throw new SocietyFaults(faults);
  return Object.fromEntries(texts) as LetterTexts;
}

interface Fault {
  line: number;
  text: string;
}

/**
 * Parses a letter's text. The text starts with `Subject: …` and an empty line. Blocks follow, separated by empty lines: a
 * paragraph, a list (each line starts with `- `), a table (only `{receipt}` or `{refundReceipt}`) or a button (only
 * `[label]({page})`).
 */
export function parseLetter(source: string, kind: LetterKind): { letter: LetterText; faults: Fault[] } {
  const faults: Fault[] = [];
  const known = placeholdersOf(kind);
  const lines = source.split(/\r?\n/);
  lines.forEach((text, index) => {
    for (const [whole, name] of text.matchAll(/\{([^{}]*)\}/g))
      if (!known.includes(name!))
        faults.push({
          line: index + 1,
          text: `there is no ${whole} in this letter. It may name ${known.map((one) => `{${one}}`).join(', ')}.`,
        });
  });
  const subject = /^Subject: *(\S.*)$/.exec(lines[0] ?? '')?.[1]?.trim() ?? '';
  if (subject === '')
    faults.push({ line: 1, text: 'the first line must be "Subject: " and what the letter is about.' });
  else if (placeholdersIn(subject).some((name) => isPage(name) || isTable(name)))
    faults.push({ line: 1, text: 'a page or a table cannot stand in the subject.' });
  for (const name of placeholdersIn(subject).filter(isNotAlwaysThere))
    faults.push({ line: 1, text: `{${name}} cannot stand in the subject: not every letter has one.` });
  const blocks: TextBlock[] = [];
  let begun: { line: number; lines: string[] } | null = null;
  const end = () => {
    if (begun === null) return;
    const { block, fault } = blockOf(begun.lines);
    if (fault) faults.push({ line: begun.line, text: fault });
    else blocks.push(block!);
    begun = null;
  };
  lines.slice(1).forEach((text, index) => {
    if (text.trim() === '') end();
    else {
      begun ??= { line: index + 2, lines: [] };
      begun.lines.push(text.trim());
    }
  });
  end();
  if (!lines.slice(1).some((text) => text.trim() !== ''))
    faults.push({ line: 1, text: 'the letter says nothing.' });
  if (blocks.filter(({ is }) => is === 'button').length > 1)
    faults.push({ line: 1, text: 'a letter has one button at most.' });
  return { letter: { subject, blocks }, faults: faults.sort((a, b) => a.line - b.line) };
}

function blockOf(lines: readonly string[]): { block?: TextBlock; fault?: string } {
  const text = lines.join(' ');
  const [table] = /^\{(\w+)\}$/.exec(text)?.slice(1) ?? [];
  if (table !== undefined && isTable(table)) return { block: { is: 'table', table } };
  const [label, page] = /^\[([^\]]+)\]\(\{(\w+)\}\)$/.exec(text)?.slice(1) ?? [];
  if (label !== undefined && page !== undefined)
    return isPage(page)
      ? { block: { is: 'button', label, page } }
      : { fault: `a button leads to a page, and {${page}} is none.` };
  if (/\]\(/.test(text)) return { fault: 'a button stands alone between empty lines: [label]({page}).' };
  if (placeholdersIn(text).some(isTable)) return { fault: 'a table stands alone between empty lines.' };
  if (lines.every((line) => line.startsWith('- ')))
    return { block: { is: 'list', items: lines.map((line) => line.slice(2).trim()) } };
  return { block: { is: 'paragraph', text } };
}

export function placeholdersIn(text: string): string[] {
  return [...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
}
