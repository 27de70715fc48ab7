import type { Config } from './config.ts';
import type { SettingReader } from './reader.ts';

/** Reads DESK_URL and DESK_PORT. Browsers keep the desk's cookie and passkeys apart from the joiners' pages by its host and port. */
export function readDesk({ address, integer, fault }: SettingReader, mode: Config['mode']): Config['desk'] {
  const given = address('DESK_URL', ['http:']);
  const port = integer('DESK_PORT', 3100, 0, 65_535);
  if (given === undefined) return null;
  // Its actions are still to come.
  if (mode === 'live') fault('DESK_URL cannot be set when MODE=live: the desk only shows so far.');
  const url = new URL(given);
  if (url.origin !== given) fault(`DESK_URL must be an address without a path, as ${url.origin}.`);
  return { url: url.origin, port };
}
