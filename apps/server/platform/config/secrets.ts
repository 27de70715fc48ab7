import type { SettingReader } from './reader.ts';

/**
 * A secret and, while it is being rotated, a second one: the old or the next one. The first signs; a signature by either is
 * accepted.
 */
export type Secrets = readonly [current: string, ...others: string[]];

/** Reads a secret and, if it is set, the second one in NAME_ALSO. Returns null if there is no secret. */
export function readSecrets({ get, fault }: SettingReader, name: string): Secrets | null {
  const [current, other] = [get(name), get(`${name}_ALSO`)];
  if (current === undefined && other !== undefined) fault(`${name}_ALSO is set without ${name}.`);
  if (current === undefined) return null;
  return other === undefined ? [current] : [current, other];
}
