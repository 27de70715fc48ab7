import { createReadStream } from 'node:fs';
import { CsvError } from 'csv-parse';
import { parse } from 'csv-parse/sync';
import { cleanText } from '#core/cleanText.ts';
import { cellFault, textOfCell } from '#core/csv.ts';

/** Thrown if a file cannot be read, or is not a CSV file with the required columns. The message is a sentence for staff. */
export class NotCsv extends Error {}

export interface CsvColumns<Column extends string> {
  /** The columns that the file must have, and those that it may have. */
  needed: readonly Column[];
  optional?: readonly Column[];
  /** Whether other columns are refused. By default their cells are not read. */
  refusesOthers?: boolean;
}

/**
 * One line of the file that is not empty: its number in the file, and its values or the reason why it could not be read (`fault`,
 * a sentence without its subject, which is the line). Values are cleaned by {@link cleanText}; an empty or missing cell is ''.
 */
export type CsvRow<Column extends string> = {
  /** The line's text in the file; null if the line is too long. */
  text: string | null;
} & (
  | { line: number; values: Record<Column, string>; fault: null }
  | { line: number; values: null; fault: string }
);

export interface CsvFile<Column extends string> {
  /** The line that names the columns. */
  header: string;
  rows: AsyncIterable<CsvRow<Column>>;
  /** Returns how many bytes of the file have been read so far. */
  bytesRead(): number;
}

/** A file: its path, or its bytes in pieces of any size, with its name for sentences. */
export type CsvSource = string | { name: string; pieces: AsyncIterable<Buffer> };

/**
 * Reads a CSV file whose first line names its columns, in any case. The rows are read one at a time, so that memory does not grow
 * with the file. Throws {@link NotCsv}, and reading the rows can throw it as well.
 */
export async function readCsv<Column extends string>(
  file: CsvSource,
  columns: CsvColumns<Column>,
): Promise<CsvFile<Column>> {
  if (typeof file === 'string') {
    const source = createReadStream(file);
    const read = await readRows(piecesOf(source, file), file, columns);
    return { ...read, bytesRead: () => source.bytesRead };
  }
  let bytes = 0;
  async function* counted({ pieces }: Exclude<CsvSource, string>) {
    for await (const piece of pieces) {
      bytes += piece.length;
      yield piece;
    }
  }
  return { ...(await readRows(counted(file), file.name, columns)), bytesRead: () => bytes };
}

async function* piecesOf(source: AsyncIterable<Buffer>, file: string): AsyncGenerator<Buffer> {
  try {
    yield* source;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENOENT' && code !== 'EISDIR' && code !== 'EACCES') throw error;
    throw new NotCsv(`${file} cannot be read.`);
  }
}

/** Like {@link readCsv}, for a file that arrives as pieces of any size. `file` is its name, for error sentences. */
export async function readRows<Column extends string>(
  pieces: AsyncIterable<Buffer>,
  file: string,
  columns: CsvColumns<Column>,
): Promise<Pick<CsvFile<Column>, 'header' | 'rows'>> {
  const lines = linesOf(textOf(pieces, file));
  let separator: string | undefined;
  for (;;) {
    const { value: first, done } = await lines.next();
    if (done) throw new NotCsv(`${file} is empty: its first line must name the ${counted(columns.needed)}.`);
    const text = first.text ?? '';
    if (cleanText(text) === '') continue;
    // Excel writes such a line, `sep=;`, and understands it.
    const given = /^"?sep=([^\w"])/i.exec(text.trimStart())?.[1];
    if (given !== undefined && separator === undefined) {
      separator = given;
      continue;
    }
    const header = readHeader(text, separator, columns);
    if (typeof header !== 'string') return { header: text, rows: rowsOf(lines, header, columns) };
    await lines.return(undefined);
    throw new NotCsv(`The first line of ${file} ${header}`);
  }
}

/** Decodes UTF-8 and UTF-16, with or without a byte order mark. Invalid UTF-8 becomes U+FFFD. */
async function* textOf(pieces: AsyncIterable<Buffer>, file: string): AsyncGenerator<string> {
  let start: Buffer = Buffer.alloc(0);
  let decoder: TextDecoder | null = null;
  for await (const piece of pieces) {
    if (decoder) {
      yield decoder.decode(piece, { stream: true });
      continue;
    }
    start = Buffer.concat([start, piece]);
    if (start.length < 4) continue;
    if (/^(504b0304|d0cf11e0)/.test(start.toString('hex', 0, 4)))
      throw new NotCsv(`${file} is a workbook or an archive: in Excel, save it as "CSV UTF-8".`);
    decoder = new TextDecoder(encodingOf(start));
    yield decoder.decode(start, { stream: true });
  }
  yield decoder ? decoder.decode() : start.toString();
}

function encodingOf([first, second]: Buffer): string {
  if ((first === 0xff && second === 0xfe) || (first !== 0 && second === 0)) return 'utf-16le';
  if ((first === 0xfe && second === 0xff) || (first === 0 && second !== 0)) return 'utf-16be';
  return 'utf-8';
}

/** The maximum length of a line, in characters. A longer line is not kept in memory. */
const LINE_MAX_LENGTH = 100_000;

interface Line {
  line: number;
  /** Null if the line is too long. */
  text: string | null;
}

/** Splits a text at LF, CR LF and CR, as editors do, whether or not a quote is open. */
async function* linesOf(texts: AsyncIterable<string>): AsyncGenerator<Line, undefined> {
  let line = 0;
  let rest = '';
  let isTooLong = false;
  for await (const text of texts) {
    // A CR at the end may belong to a LF that follows.
    const pieces = (rest + text).split(/\r\n|\n|\r(?!$)/);
    rest = pieces.pop()!;
    for (const piece of pieces) {
      line++;
      yield { line, text: isTooLong || piece.length > LINE_MAX_LENGTH ? null : piece };
      isTooLong = false;
    }
    if (rest.length <= LINE_MAX_LENGTH) continue;
    isTooLong = true;
    rest = rest.endsWith('\r') ? '\r' : '';
  }
  const last = rest.replace(/\r$/, '');
  if (last !== '' || isTooLong) yield { line: line + 1, text: isTooLong ? null : last };
}

/** Returns the cells of a line, or the reason why the line cannot be split. */
function cellsOf(text: string, delimiter: string): string[] | string {
  if (!text.includes('"')) return text.split(delimiter);
  try {
    const [cells] = parse(text, { delimiter, trim: true, relax_column_count: true }) as string[][];
    return cells ?? [];
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    return error.code === 'CSV_QUOTE_NOT_CLOSED'
      ? 'opens a quote that is not closed before the line ends: close it, or write a quote within a cell twice. No cell can have a line break.'
      : 'has a quote in the middle of a cell: put quotes around the whole cell, and write a quote within it twice.';
  }
}

interface Header<Column> {
  delimiter: string;
  /** The columns in the order of the file; null for each column that is not read. */
  order: (Column | null)[];
}

/**
 * Returns the header. If it is faulty, returns the rest of a sentence about the file's first line: which columns are missing,
 * unknown or named twice.
 */
function readHeader<Column extends string>(
  text: string,
  separator: string | undefined,
  { needed, optional = [], refusesOthers = false }: CsvColumns<Column>,
): Header<Column> | string {
  const known = new Map([...needed, ...optional].map((column) => [keyOf(column), column]));
  const read = (delimiter: string) => {
    const cells = cellsOf(text, delimiter);
    if (typeof cells === 'string') return { delimiter, fault: cells, names: [], order: [], found: 0 };
    const names = cells.map(cleanText);
    while (names.at(-1) === '') names.pop();
    const order = names.map((name) => known.get(keyOf(name)) ?? null);
    return { delimiter, fault: null, names, order, found: order.filter(Boolean).length };
  };
  const [best] = [separator ?? ',', ',', ';', '\t'].map(read).sort((a, b) => b.found - a.found);
  const { delimiter, fault, names, order } = best!;
  if (fault !== null) return fault;
  const repeated = order.find((column, index) => column !== null && order.indexOf(column) !== index);
  if (repeated) return `names the column ${repeated} twice.`;
  const missing = needed.filter((column) => !order.includes(column));
  const others = refusesOthers ? names.filter((name, index) => name !== '' && order[index] === null) : [];
  if (missing.length === 0 && others.length === 0) return { delimiter, order };
  return [
    `must name the ${counted(needed)}`,
    ...(missing.length > 0 ? [`missing: ${missing.join(', ')}`] : []),
    ...(others.length > 0 ? [`not known: ${others.join(', ')}`] : []),
  ]
    .join('; ')
    .concat('.');
}

/** Returns the form in which column names are compared: "Contact ID" becomes "contactid". */
const keyOf = (name: string) => name.toLowerCase().replace(/[ _-]/g, '');

const counted = (columns: readonly string[]) =>
  `${columns.length === 1 ? 'column' : 'columns'} ${columns.join(',')}`;

async function* rowsOf<Column extends string>(
  lines: AsyncIterable<Line>,
  { delimiter, order }: Header<Column>,
  { needed, optional = [] }: CsvColumns<Column>,
): AsyncGenerator<CsvRow<Column>> {
  const none = Object.fromEntries([...needed, ...optional].map((column) => [column, ''])) as Record<
    Column,
    string
  >;
  for await (const { line, text } of lines) {
    const cells = text === null ? `is longer than ${LINE_MAX_LENGTH} characters.` : cellsOf(text, delimiter);
    if (typeof cells === 'string') {
      yield { line, text, values: null, fault: cells };
      continue;
    }
    const read = cells.map((cell) => cleanText(textOfCell(cell.trim())));
    if (read.every((cell) => cell === '')) continue;
    while (read.length > order.length && read.at(-1) === '') read.pop();
    // Excel leaves out empty cells at the end of a line.
    const isShort = order.slice(read.length).some((column) => column !== null && needed.includes(column));
    const values = { ...none };
    const faults: string[] = [];
    if (isShort || read.length > order.length) faults.push(`has ${read.length} fields, not ${order.length}.`);
    for (const [index, column] of order.entries()) {
      if (column === null) continue;
      values[column] = read[index] ?? '';
      const fault = faultOfCell(column, values[column]);
      if (fault) faults.push(fault);
    }
    yield faults[0] === undefined
      ? { line, text, values, fault: null }
      : { line, text, values: null, fault: faults[0] };
  }
}

function faultOfCell(column: string, text: string): string | null {
  if (text.includes('\ufffd'))
    return 'is not encoded in UTF-8, so that some of its letters are lost. In Excel, save the file as "CSV UTF-8".';
  const fault = cellFault(text, { isName: column === 'firstName' || column === 'lastName' });
  return fault === null ? null : `${column}: ${fault}`;
}
