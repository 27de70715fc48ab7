/**
 * Returns one line of a CSV file (RFC 4180), with its line end. A cell that begins with = + - @, a tab or a line break could run
 * as a formula in a spreadsheet, so an apostrophe is put before it. A plain number such as -65.00 gets no apostrophe.
 */
export function csvLine(cells: readonly string[]): string {
  return `${cells.map(cellOf).join(',')}\r\n`;
}

const runsAsFormula = /^[=+\-@\t\r\n]/;

/**
 * Returns the original text of a cell that {@link csvLine} may have written, without the apostrophe that it puts before text that
 * could run as a formula.
 */
export function textOfCell(cell: string): string {
  return cell.startsWith("'") && runsAsFormula.test(cell.slice(1)) ? cell.slice(1) : cell;
}

function cellOf(text: string): string {
  const isNumber = /^-?\d+(\.\d+)?$/.test(text);
  const safe = !isNumber && runsAsFormula.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) || safe !== safe.trim() ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** The errors that spreadsheets show in a cell, in any language: #NAME?, #REF!, #N/A, #BEZUG!, #####. */
const spreadsheetError = /^#(#+|[\p{Lu}\d/_]+[!?]?)$/u;
/** Texts that programs and people write in place of a missing value. */
const placeholder =
  /^(null|none|nil|nan|undefined|n\/?a|n\.a\.?|<na>|[<([]?(null|none|blank|empty|undefined)[>)\]]?|\\n|\[object object\]|[-–—._?]+)$/i;
/** Placeholders that are also names of persons if they are written like this. */
const realName = /^(Null|Na|Nan|Nil)$/;

/**
 * Returns why the text of a cell is not a value: it is a spreadsheet's error, or a placeholder for no value. Null if it can be a
 * value or is empty. `isName`: whether the column has names of persons.
 */
export function cellFault(text: string, { isName }: { isName: boolean }): string | null {
  if (spreadsheetError.test(text)) return `"${text}" is an error of the spreadsheet: correct it there.`;
  if (placeholder.test(text) && !(isName && realName.test(text)))
    return `"${text}" is no value: leave the cell empty.`;
  return null;
}

/** Whether a text looks like a number or date into which a spreadsheet has turned an id or a code: 1.02E+11, 101.0, "1,234", Sep-26. */
export function isMangled(text: string): boolean {
  return (
    /^[+-]?\d[\d.,' ]*(e[+-]?\d+)?$/i.test(text) ||
    /^(\d{1,4}[-/. ])?(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)([-/. ]\d{1,4})?$/i.test(text) ||
    /^\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}( .*)?$/.test(text)
  );
}

/** Returns the reason why a text in a CSV file is not the id of a HubSpot contact; null if it is one. */
export function contactIdFault(text: string): string | null {
  if (/^[0-9]{1,20}$/.test(text)) return null;
  return isMangled(text)
    ? `"${text}" is not a contact id but what a spreadsheet made of one: format the column as text, and enter the id again.`
    : `"${text}" is not a contact id: it has digits only.`;
}
