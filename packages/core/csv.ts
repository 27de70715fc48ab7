/**
 * Returns one line of a CSV file (RFC 4180), with its line end. A cell that begins with = + - @, a tab or a line break could run
 * as a formula in a spreadsheet, so an apostrophe is put before it. A plain number such as -65.00 gets no apostrophe.
 */
export function csvLine(cells: readonly string[]): string {
  return `${cells.map(cellOf).join(',')}\r\n`;
}

const runsAsFormula = /^[=+\-@\t\r\n]/;

/** Returns the text of a cell that {@link csvLine} may have written: without the apostrophe before what could run as a formula. */
export function textOfCell(cell: string): string {
  return cell.startsWith("'") && runsAsFormula.test(cell.slice(1)) ? cell.slice(1) : cell;
}

function cellOf(text: string): string {
  const isNumber = /^-?\d+(\.\d+)?$/.test(text);
  const safe = !isNumber && runsAsFormula.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) || safe !== safe.trim() ? `"${safe.replaceAll('"', '""')}"` : safe;
}
