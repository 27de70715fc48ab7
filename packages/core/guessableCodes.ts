/**
 * The minimum length of a safe invite code. A person who tries all shorter codes finds those that exist, even if they are random.
 */
export const SHORTEST_CODE = 8;

/** Whether two different codes differ by one character that is changed, left out or added. */
export function areAlike(a: string, b: string): boolean {
  const [short, long] = a.length <= b.length ? [a, b] : [b, a];
  if (long.length - short.length > 1) return false;
  let same = 0;
  while (same < short.length && short[same] === long[same]) same++;
  return short.slice(same + (short.length === long.length ? 1 : 0)) === long.slice(same + 1);
}

const CHARACTERS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ';

/**
 * Returns all codes that differ from a normalised code by one typing error: {@link areAlike}, or two neighbouring characters
 * swapped.
 */
export function similarCodes(code: string): string[] {
  const similar = new Set<string>();
  for (let at = 0; at <= code.length; at++) {
    const [before, here, after] = [code.slice(0, at), code.slice(at, at + 1), code.slice(at + 1)];
    similar.add(before + after);
    similar.add(before + after.slice(0, 1) + here + after.slice(1));
    for (const character of CHARACTERS)
      similar.add(before + character + after).add(before + character + here + after);
  }
  similar.delete(code);
  similar.delete('');
  return [...similar];
}

/** Whether two codes are equal except for their last number, and these numbers follow one another: HONOR0199 and HONOR0200. */
export function followsOn(a: string, b: string): boolean {
  const [first, second] = [inParts(a), inParts(b)];
  if (!first || !second || first.before !== second.before || first.after !== second.after) return false;
  const step = first.number - second.number;
  return step === 1n || step === -1n;
}

/** Splits a code into its last number and the texts before and after that number; null if the code has no number. */
function inParts(code: string): { before: string; number: bigint; after: string } | null {
  const parts = /^(.*?)(\d+)(\D*)$/.exec(code);
  return parts && { before: parts[1]!, number: BigInt(parts[2]!), after: parts[3]! };
}
