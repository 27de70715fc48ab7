import { randomInt } from 'node:crypto';

const LETTERS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** Random letters and digits: the only randomness in the emulator. */
export function token(length: number): string {
  return Array.from({ length }, () => LETTERS[randomInt(LETTERS.length)]).join('');
}

/** An id like `pi_3Q…`, of the provider's usual length. */
export function newId(prefix: string): string {
  return `${prefix}_${token(24)}`;
}
