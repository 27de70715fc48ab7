import type { Config } from './config.ts';
import type { SettingReader } from './reader.ts';

/**
 * Reads DESK_URL and DESK_PORT. Browsers keep the desk's cookie and passkeys apart from the joiners' pages by its host. With https it is
 * behind a proxy with TLS, as the joiners' pages are. Without, its host is localhost, whatever HOST is: to other addresses browsers then
 * send no Sec-Fetch-Site, and make no passkeys.
 */
export function readDesk(
  { address, integer, fault }: SettingReader,
  { mode, host, publicUrl }: Pick<Config, 'mode' | 'host' | 'publicUrl'>,
): Config['desk'] {
  const given = address('DESK_URL', mode === 'live' ? ['https:'] : ['http:', 'https:']);
  const url = given === undefined ? null : new URL(given);
  const port = integer('DESK_PORT', Number(url?.port) || 3100, 0, 65_535);
  if (url === null) return null;
  if (url.origin !== given) fault(`DESK_URL must be an address without a path, as ${url.origin}.`);
  if (url.protocol === 'https:') {
    if (url.hostname === new URL(publicUrl).hostname)
      fault('DESK_URL must have another host than PUBLIC_URL: browsers give cookies to all ports of a host.');
    return { url: url.origin, host, port };
  }
  if (url.hostname !== 'localhost') fault('DESK_URL must begin with https:// or http://localhost.');
  const isEverywhere = ['0.0.0.0', '::'].includes(host);
  return { url: url.origin, host: isEverywhere ? host : '127.0.0.1', port };
}
