import type { SettingReader } from './reader.ts';

/**
 * A secret and, while it is rotated, a second one: the previous or the next secret. Signing and encrypting use the first; verifying
 * and decrypting accept both.
 */
export type Secrets = readonly [current: string, ...others: string[]];

/** Reads a secret from the setting NAME and, if set, the second one from NAME_ALSO. Returns null if NAME is not set. */
export function readSecrets({ get, fault }: SettingReader, name: string): Secrets | null {
  const [current, other] = [get(name), get(`${name}_ALSO`)];
  if (current === undefined && other !== undefined) fault(`${name}_ALSO is set without ${name}.`);
  if (current === undefined) return null;
  return other === undefined ? [current] : [current, other];
}
