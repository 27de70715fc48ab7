import type { Config } from './config.ts';
import type { SettingReader } from './reader.ts';

/**
 * Reads DESK_URL and DESK_PORT. Browsers keep the desk's cookie and passkeys apart from the joiners' pages by its host and port. Its host
 * is localhost, whatever HOST is: to other addresses without https browsers send no Sec-Fetch-Site, and make no passkeys.
 */
export function readDesk(
  { address, integer, fault }: SettingReader,
  { mode, host }: Pick<Config, 'mode' | 'host'>,
): Config['desk'] {
  const given = address('DESK_URL', ['http:']);
  const url = given === undefined ? null : new URL(given);
  const port = integer('DESK_PORT', Number(url?.port) || 3100, 0, 65_535);
  if (url === null) return null;
  // Its actions are still to come.
  if (mode === 'live') fault('DESK_URL cannot be set when MODE=live: the desk only shows so far.');
  else if (url.hostname !== 'localhost') fault('DESK_URL must begin with http://localhost.');
  if (url.origin !== given) fault(`DESK_URL must be an address without a path, as ${url.origin}.`);
  const isEverywhere = ['0.0.0.0', '::'].includes(host);
  return { url: url.origin, host: isEverywhere ? host : '127.0.0.1', port };
}
