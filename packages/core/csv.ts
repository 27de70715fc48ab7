/**
 * One line of a CSV file (RFC 4180), with its line end. A cell that a spreadsheet would take for a formula, since it begins
 * with = + - @ or a control character, gets an apostrophe before it; a plain number, as -65.00, stays one.
 */
export function csvLine(cells: readonly string[]): string {
  return `${cells.map(cellOf).join(',')}\r\n`;
}

function cellOf(text: string): string {
  const isNumber = /^-?\d+(\.\d+)?$/.test(text);
  const safe = !isNumber && /^[=+\-@\t\r\n]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) || safe !== safe.trim() ? `"${safe.replaceAll('"', '""')}"` : safe;
}
