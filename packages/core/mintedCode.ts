/**
 * A minted code has eight random characters from an alphabet of 32 (40 bits, so it cannot be guessed) and a check letter. The
 * alphabet lacks 0, O, 1 and I, which people confuse.
 */
const ALPHABET = '23456789ABCDEFGHJKLMNPQRSTUVWXYZ';
const RANDOM_CHARACTERS = 8;
/** The number of random bytes in a minted code. */
export const MINTED_BYTES = 5;

/** The powers of x in the finite field with 32 elements, where x^5 = x^2 + 1: 31 different values. */
const powers: number[] = [1];
while (powers.length < 31) {
  const doubled = powers.at(-1)! << 1;
  powers.push(doubled < 32 ? doubled : doubled ^ 0b100101);
}
const logarithm = new Map(powers.map((power, exponent) => [power, exponent]));

function multiply(a: number, b: number): number {
  return a === 0 || b === 0 ? 0 : powers[(logarithm.get(a)! + logarithm.get(b)!) % 31]!;
}

/**
 * Returns the checksum of a code's characters. Each position has a different weight, and no weight is 0, so that the checksum
 * changes if one character is wrong or two different characters are swapped.
 */
function checksum(values: readonly number[]): number {
  return values.reduce((sum, value, index) => sum ^ multiply(value, powers[index + 1]!), 0);
}

/** Returns the code for {@link MINTED_BYTES} random bytes: nine characters, the last of which is the check letter. */
export function mintedCode(random: Uint8Array): string {
  const bits = [...random.subarray(0, MINTED_BYTES)]
    .map((byte) => byte.toString(2).padStart(8, '0'))
    .join('');
  const values = Array.from({ length: RANDOM_CHARACTERS }, (_, index) =>
    Number.parseInt(bits.slice(index * 5, index * 5 + 5), 2),
  );
  return [...values, checksum(values)].map((value) => ALPHABET[value]).join('');
}

/** Whether a normalised code has the form of a minted code and the right check letter. */
export function isMinted(code: string): boolean {
  const values = [...code].map((character) => ALPHABET.indexOf(character));
  const isOfForm = values.length === RANDOM_CHARACTERS + 1 && values.every((value) => value >= 0);
  return isOfForm && checksum(values.slice(0, -1)) === values.at(-1);
}

/**
 * Whether a normalised code is probably a mistyped minted code (a slip): it has nine characters, of which at most one is outside
 * the alphabet, and is not a minted code. A code that a society made itself may have this form, too. The result depends only on
 * the text, so it does not reveal which codes exist.
 */
export function isSlip(code: string): boolean {
  if (code.length !== RANDOM_CHARACTERS + 1) return false;
  return [...code].filter((character) => !ALPHABET.includes(character)).length <= 1 && !isMinted(code);
}
