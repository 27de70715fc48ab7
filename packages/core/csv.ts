/**
 * Returns one line of a CSV file (RFC 4180), with its line end. A cell that begins with = + - @, a tab or a line break could run
 * as a formula in a spreadsheet, so an apostrophe is put before it. Before a plain number such as -65.00 none is put.
 */
export function csvLine(cells: readonly string[]): string {
  return `${cells.map(cellOf).join(',')}\r\n`;
}

function cellOf(text: string): string {
  const isNumber = /^-?\d+(\.\d+)?$/.test(text);
  const safe = !isNumber && /^[=+\-@\t\r\n]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) || safe !== safe.trim() ? `"${safe.replaceAll('"', '""')}"` : safe;
}
