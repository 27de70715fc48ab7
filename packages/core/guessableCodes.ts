/** A code of fewer characters than this can be found by trying, however it was made. */
export const SHORTEST_CODE = 8;

/** Whether two codes differ by one character that was changed, left out or added. Codes of one set are all different. */
export function areAlike(a: string, b: string): boolean {
  const [short, long] = a.length <= b.length ? [a, b] : [b, a];
  if (long.length - short.length > 1) return false;
  let same = 0;
  while (same < short.length && short[same] === long[same]) same++;
  return short.slice(same + (short.length === long.length ? 1 : 0)) === long.slice(same + 1);
}

/** Whether two codes are the same but for a number that goes on by one: HONOR0199 and HONOR0200. */
export function followsOn(a: string, b: string): boolean {
  const [first, second] = [inParts(a), inParts(b)];
  if (!first || !second || first.before !== second.before || first.after !== second.after) return false;
  const step = first.number - second.number;
  return step === 1n || step === -1n;
}

/** A code around its last number. */
function inParts(code: string): { before: string; number: bigint; after: string } | null {
  const parts = /^(.*?)(\d+)(\D*)$/.exec(code);
  return parts && { before: parts[1]!, number: BigInt(parts[2]!), after: parts[3]! };
}
