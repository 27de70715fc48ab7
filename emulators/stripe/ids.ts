import { randomInt } from 'node:crypto';

const LETTERS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** Returns random letters and digits. This is the only randomness in the emulator. */
export function token(length: number): string {
  return Array.from({ length }, () => LETTERS[randomInt(LETTERS.length)]).join('');
}

/** Returns an id like `pi_3Q…`, of the provider's usual length. */
export function newId(prefix: string): string {
  return `${prefix}_${token(24)}`;
}
