import { escapeHtml } from '../platform/escapeHtml.ts';
import type { Society } from '../society/society.ts';
import type { PageName, TableName } from './placeholders.ts';
import { type LetterText, placeholdersIn, type TextBlock } from './readTexts.ts';

/** A table of amounts: lines, their total, and notes below such as the date, the card and the reference. */
export interface AmountTable {
  /** The amounts are text, already formatted for display. */
  lines: { name: string; amount: string }[];
  total: { name: string; amount: string };
  notes: string[];
}

/**
 * The values of the placeholders in one letter. What contains a placeholder without a value is left out of the letter
 * ({@link contentOf}).
 */
export interface LetterValues {
  texts: Partial<Record<string, string>>;
  pages: Partial<Record<PageName, string>>;
  tables: Partial<Record<TableName, AmountTable>>;
}

/** A letter with its values filled in, from which the text and HTML versions are rendered. */
export interface Content {
  subject: string;
  blocks: Block[];
  /** The society's web addresses, which become links where they appear in the text. */
  addresses: string[];
}
type Block =
  | { is: 'paragraph'; text: string }
  | { is: 'list'; items: string[] }
  | { is: 'button'; label: string; url: string }
  | ({ is: 'table' } & AmountTable);

export type Sender = Pick<Society['society'], 'name' | 'supportEmail' | 'supportPhone' | 'colours'> & {
  postalAddress: string | null;
  /** The page on which the recipient can stop reminders; null in all letters but reminders. */
  stopPage: string | null;
  /** The page on which recipients can check whether a code or a link comes from the society. */
  checkPage: string;
};

const WHY =
  'You are getting this email because someone started to join with this address and did not finish.';
const STOP = 'Stop these reminders';
const IS_IT_REAL = 'Not sure whether a link or a code is really from us?';

/** The Content-ID with which the HTML refers to the crest's image. */
export const CREST = 'crest@induct';

/**
 * Fills the values into a letter's text. Leaves out each paragraph, list item, button and table with a placeholder that has no
 * value.
 */
export function contentOf({ subject, blocks }: LetterText, { texts, pages, tables }: LetterValues): Content {
  const values: Partial<Record<string, string>> = { ...texts, ...pages };
  const fill = (text: string) => text.replace(/\{(\w+)\}/g, (_, name: string) => values[name] ?? '');
  const isThere = (text: string) => placeholdersIn(text).every((name) => values[name] !== undefined);
  return {
    // A name with a line break could otherwise add a header field.
    subject: fill(subject)
      .replace(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]+/gu, ' ')
      .trim(),
    addresses: Object.values(pages),
    blocks: blocks.flatMap((block) => filled(block, { fill, isThere, pages, tables })),
  };
}

/** Returns a block with its values filled in; an empty array if the block is left out. */
function filled(
  block: TextBlock,
  {
    fill,
    isThere,
    pages,
    tables,
  }: Pick<LetterValues, 'pages' | 'tables'> & {
    fill(text: string): string;
    isThere(text: string): boolean;
  },
): Block[] {
  switch (block.is) {
    case 'paragraph':
      return isThere(block.text) ? [{ is: 'paragraph', text: fill(block.text) }] : [];
    case 'list': {
      const items = block.items.filter(isThere).map(fill);
      return items.length > 0 ? [{ is: 'list', items }] : [];
    }
    case 'button': {
      const url = pages[block.page as PageName];
      return url === undefined || !isThere(block.label)
        ? []
        : [{ is: 'button', label: fill(block.label), url }];
    }
    case 'table': {
      const table = tables[block.table as TableName];
      return table === undefined ? [] : [{ is: 'table', ...table }];
    }
  }
}

/** The line length (characters) of the text version. */
const LINE = 72;

/** Returns the text version, for mail clients that show no HTML. */
export function textOf({ blocks }: Content, sender: Sender): string {
  const parts = blocks.map(blockText);
  const { name, supportEmail, supportPhone, postalAddress, stopPage, checkPage } = sender;
  if (stopPage) parts.push(`${wrapped(WHY)}\n${STOP}:\n${stopPage}`);
  const foot = [
    '-- ',
    name,
    `${supportEmail} · ${supportPhone}`,
    ...(postalAddress ? postalAddress.split('\n').map((line) => wrapped(line)) : []),
    IS_IT_REAL,
    checkPage,
  ];
  return `${[...parts, foot.join('\n')].join('\n\n')}\n`;
}

function blockText(block: Block): string {
  switch (block.is) {
    case 'paragraph':
      return wrapped(block.text);
    case 'list':
      return block.items.map((item) => wrapped(`- ${item}`, '  ')).join('\n');
    case 'button':
      return `${block.label}:\n${block.url}`;
    case 'table':
      return tableText(block);
  }
}

function tableText({ lines, total, notes }: AmountTable): string {
  const rows = [...lines, total];
  const right = Math.max(...rows.map(({ amount }) => amount.length));
  const left = Math.min(LINE - right - 2, Math.max(...rows.map(({ name }) => name.length)));
  const row = ({ name, amount }: { name: string; amount: string }) => {
    const pieces = wrapped(name, '  ', left).split('\n');
    const last = pieces.pop()!;
    return [...pieces, `${last.padEnd(left)}  ${amount.padStart(right)}`].join('\n');
  };
  const rule = '-'.repeat(left + 2 + right);
  return [
    ...lines.map(row),
    rule,
    row(total),
    ...(notes.length > 0 ? ['', ...notes.map((note) => wrapped(note))] : []),
  ].join('\n');
}

/** Wraps a text between words to lines of at most `width` characters. All lines but the first start with `indent`. */
function wrapped(text: string, indent = '', width = LINE): string {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(/\s+/)) {
    if (line !== '' && `${line} ${word}`.length > width) {
      lines.push(line);
      line = `${indent}${word}`;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line].join('\n');
}

const serif = "Georgia, 'Times New Roman', serif";
const sans = "-apple-system, BlinkMacSystemFont, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif";

/**
 * Returns the HTML version: one column of tables with inline styles, because mail clients drop style sheets. A style sheet is used
 * for dark mode only.
 */
export function htmlOf({ subject, blocks, addresses }: Content, sender: Sender): string {
  const { name, supportEmail, supportPhone, postalAddress, stopPage, checkPage, colours } = sender;
  const parts = blocks.map((block) => blockHtml(block, colours.red, [...addresses, supportEmail]));
  return `<!doctype html>
<html lang="en" dir="ltr">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<title>${escapeHtml(subject)}</title>
<style>
:root { color-scheme: light dark; supported-color-schemes: light dark; }
@media (prefers-color-scheme: dark) {
  .ground { background: #161212 !important; }
  .sheet { background: #221c1b !important; }
  .ink, .ink a { color: #f3ece8 !important; }
  .quiet, .quiet a { color: #c9bdb7 !important; }
  .line { border-color: #51443f !important; }
}
@media (max-width: 620px) { .side { padding-left: 20px !important; padding-right: 20px !important; } }
</style>
</head>
<body class="ground" style="margin:0;padding:0;background:#f4efe9">
<table role="presentation" class="ground" width="100%" cellspacing="0" cellpadding="0" border="0" bgcolor="#f4efe9" style="background:#f4efe9"><tr><td align="center" style="padding:24px 12px">
<table role="presentation" class="sheet" width="100%" cellspacing="0" cellpadding="0" border="0" bgcolor="#ffffff" style="max-width:600px;background:#ffffff;border-top:5px solid ${colours.gold};border-radius:4px">
<tr><td class="side" style="padding:28px 36px 8px"><table role="presentation" cellspacing="0" cellpadding="0" border="0"><tr>
<td style="padding:0 12px 0 0"><img src="cid:${CREST}" width="40" height="40" alt="" style="display:block;border:0"></td>
<td class="ink" style="font:700 19px/1.25 ${serif};color:#2a2422">${escapeHtml(name)}</td>
</tr></table></td></tr>
<tr><td class="side" style="padding:12px 36px 12px">
<h1 class="ink" style="margin:8px 0 18px;font:400 26px/1.25 ${serif};color:#2a2422">${escapeHtml(subject)}</h1>
${parts.join('\n')}
</td></tr>
<tr><td class="side line" style="padding:20px 36px 28px;border-top:1px solid #e4dbd3">
${stopPage ? `<p class="quiet" style="margin:0 0 12px;font:14px/1.55 ${sans};color:#665a55">${WHY} <a href="${escapeHtml(stopPage)}" style="color:#665a55">${STOP}</a></p>\n` : ''}<p class="quiet" style="margin:0;font:14px/1.55 ${sans};color:#665a55">${escapeHtml(name)}<br><a href="mailto:${escapeHtml(supportEmail)}" style="color:#665a55">${escapeHtml(supportEmail)}</a> · ${escapeHtml(supportPhone)}${postalAddress ? `<br>${escapeHtml(postalAddress).replaceAll('\n', '<br>')}` : ''}<br>${IS_IT_REAL} <a href="${escapeHtml(checkPage)}" style="color:#665a55">Check it</a></p>
</td></tr>
</table>
</td></tr></table>
</body>
</html>
`;
}

function blockHtml(block: Block, red: string, addresses: readonly string[]): string {
  switch (block.is) {
    case 'paragraph':
      return `<p class="ink" style="margin:0 0 16px;font:16px/1.55 ${sans};color:#2a2422">${linked(block.text, addresses)}</p>`;
    case 'list':
      return `<ul class="ink" style="margin:0 0 16px;padding:0 0 0 22px;font:16px/1.55 ${sans};color:#2a2422">${block.items
        .map((item) => `<li style="margin:0 0 6px">${linked(item, addresses)}</li>`)
        .join('')}</ul>`;
    case 'button':
      return `<table role="presentation" cellspacing="0" cellpadding="0" border="0" style="margin:8px 0 24px"><tr><td class="button" bgcolor="${red}" style="border-radius:6px;background:${red}"><a class="buttonText" href="${escapeHtml(block.url)}" style="display:inline-block;padding:13px 24px;font:600 16px/1.3 ${sans};color:#ffffff;text-decoration:none;border-radius:6px">${escapeHtml(block.label)}</a></td></tr></table>`;
    case 'table':
      return tableHtml(block);
  }
}

function tableHtml({ lines, total, notes }: AmountTable): string {
  const cell = (isTotal: boolean, isAmount: boolean) =>
    `padding:${isTotal ? '10px' : '7px'} 0;font:${isTotal ? 700 : 400} 16px/1.4 ${sans};color:#2a2422;vertical-align:top${isAmount ? ';text-align:right;white-space:nowrap;padding-left:16px' : ''}`;
  const row = ({ name, amount }: { name: string; amount: string }, isTotal = false) =>
    `<tr><th scope="row" class="ink line" align="left" style="${cell(isTotal, false)}${isTotal ? ';border-top:1px solid #e4dbd3' : ''}">${escapeHtml(name)}</th><td class="ink line" align="right" style="${cell(isTotal, true)}${isTotal ? ';border-top:1px solid #e4dbd3' : ''}">${escapeHtml(amount)}</td></tr>`;
  const small = notes
    .map((note) => `<br>${escapeHtml(note)}`)
    .join('')
    .slice(4);
  return `<table width="100%" cellspacing="0" cellpadding="0" border="0" style="margin:0 0 ${notes.length > 0 ? '6px' : '20px'}">${lines.map((line) => row(line)).join('')}${row(total, true)}</table>${
    notes.length > 0
      ? `<p class="quiet" style="margin:0 0 20px;font:14px/1.5 ${sans};color:#665a55">${small}</p>`
      : ''
  }`;
}

/** Escapes a text for HTML and makes the society's own addresses links. Nothing that a person has typed becomes a link. */
function linked(text: string, addresses: readonly string[]): string {
  return text
    .split(/(\s+)/)
    .map((piece) => {
      const [, address = '', rest = ''] = /^(.*?)([.,;:!?)]*)$/s.exec(piece) ?? [];
      if (!addresses.includes(address)) return escapeHtml(piece);
      const href = address.includes('://') ? address : `mailto:${address}`;
      return `<a href="${escapeHtml(href)}" style="color:inherit">${escapeHtml(address)}</a>${escapeHtml(rest)}`;
    })
    .join('');
}
