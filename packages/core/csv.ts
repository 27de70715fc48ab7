/**
 * Returns one line of a CSV file (RFC 4180), with its line end. A cell that begins with = + - @, a tab or a line break could run as
 * a formula in a spreadsheet, so it is prefixed with an apostrophe. A plain number such as -65.00 is not prefixed.
 */
export function csvLine(cells: readonly string[]): string {
  return `${cells.map(cellOf).join(',')}\r\n`;
}

function cellOf(text: string): string {
  const isNumber = /^-?\d+(\.\d+)?$/.test(text);
  const safe = !isNumber && /^[=+\-@\t\r\n]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) || safe !== safe.trim() ? `"${safe.replaceAll('"', '""')}"` : safe;
}
