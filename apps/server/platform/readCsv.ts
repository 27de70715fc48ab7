import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream';
import { CsvError, parse } from 'csv-parse';
import { textOfCell } from '#core/csv.ts';

/** Thrown if a file cannot be read, is not a CSV file in UTF-8, or lacks a column. The message is a sentence for staff. */
export class NotCsv extends Error {}

export interface CsvRow {
  /** The number of the row's last line in the file. Line 1 is the header. */
  line: number;
  /** The row's values by the names of the columns. */
  values: Partial<Record<string, string>>;
}

/**
 * Reads a CSV file whose first line names its columns, among them `needed`. The rows are read one at a time, so that memory does
 * not grow with the file. Throws {@link NotCsv}, and reading the rows can throw it as well.
 */
export async function readCsv(file: string, needed: string): Promise<AsyncIterable<CsvRow>> {
  const parser = parse({ bom: true, info: true, trim: true, skip_empty_lines: true });
  // Errors from reading the file are thrown by the loop in `recordsOf`.
  pipeline(createReadStream(file), refuseUtf16(file), parser, () => {});
  const records = recordsOf(parser, file);
  const first = await records.next();
  if (first.done) throw new NotCsv(`${file} is empty: its first line must name the column ${needed}.`);
  const columns = first.value.record;
  const fault = faultOfHeader(columns, needed);
  if (fault) {
    parser.destroy();
    throw new NotCsv(`The first line of ${file} ${fault}`);
  }
  return rowsOf(columns, records);
}

function faultOfHeader(columns: readonly string[], needed: string): string | null {
  if (!columns.includes(needed)) return `must name the column ${needed}; commas separate columns.`;
  const repeated = repeatedColumn(columns);
  return repeated === null ? null : `names the column ${repeated} twice.`;
}

/** Returns the name of a column that a CSV file has twice; null if there is none. Columns without a name do not count. */
export function repeatedColumn(columns: readonly string[]): string | null {
  return columns.find((column, index) => column !== '' && columns.indexOf(column) !== index) ?? null;
}

/**
 * Returns a pipeline stage, for use before csv-parse, that passes the bytes of a file on unchanged. If the file is in UTF-16, the
 * stage throws {@link NotCsv}, except for the one form of UTF-16 that csv-parse reads: little-endian with one byte order mark.
 */
export function refuseUtf16(file: string) {
  return async function* (chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    let isFirst = true;
    for await (const chunk of chunks) {
      if (isFirst && isForeignUtf16(chunk.subarray(0, 4)))
        throw new NotCsv(`${file} is not encoded in UTF-8. In Excel, save the file as "CSV UTF-8".`);
      isFirst = false;
      yield chunk;
    }
  };
}

function isForeignUtf16(start: Buffer): boolean {
  const bytes = start.toString('hex');
  if (bytes.startsWith('fffe')) return bytes === 'fffefffe';
  return bytes.startsWith('feff') || start.includes(0);
}

interface CsvRecord {
  info: { lines: number };
  record: string[];
}

async function* recordsOf(parser: AsyncIterable<CsvRecord>, file: string): AsyncGenerator<CsvRecord> {
  try {
    yield* parser;
  } catch (error) {
    throw asNotCsv(error, file);
  }
}

/** Returns a {@link NotCsv} for an error that comes from the file or its format, and any other error as it is. */
export function asNotCsv(error: unknown, file: string): unknown {
  const { code, message } = error as { code?: string; message: string };
  if (code === 'ENOENT' || code === 'EISDIR' || code === 'EACCES')
    return new NotCsv(`${file} cannot be read.`);
  return error instanceof CsvError ? new NotCsv(`${file} is not a CSV file: ${message}`) : error;
}

async function* rowsOf(columns: string[], records: AsyncIterable<CsvRecord>): AsyncGenerator<CsvRow> {
  for await (const { info, record } of records)
    yield {
      line: info.lines,
      values: Object.fromEntries(columns.map((column, index) => [column, textOfCell(record[index] ?? '')])),
    };
}
