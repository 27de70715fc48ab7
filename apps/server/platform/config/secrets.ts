import type { SettingReader } from './reader.ts';

/** A secret, and perhaps one that is on its way in or out: the first one signs, and what any of them has signed is accepted. */
export type Secrets = readonly [current: string, ...others: string[]];

/** The setting, and its companion NAME_ALSO while one is exchanged. Null when there is none. */
export function readSecrets({ get, fault }: SettingReader, name: string): Secrets | null {
  const [current, other] = [get(name), get(`${name}_ALSO`)];
  if (current === undefined && other !== undefined) fault(`${name}_ALSO is set without ${name}.`);
  if (current === undefined) return null;
  return other === undefined ? [current] : [current, other];
}
