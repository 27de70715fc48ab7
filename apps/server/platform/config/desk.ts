import type { Config } from './config.ts';
import type { SettingReader } from './reader.ts';

/** Reads DESK_URL and DESK_PORT. Browsers keep the desk's cookie and passkeys apart from the joiners' pages by its host. */
export function readDesk(
  { address, integer, fault }: SettingReader,
  mode: Config['mode'],
  publicUrl: string,
): Config['desk'] {
  const given = address('DESK_URL', ['http:', 'https:']);
  const port = integer('DESK_PORT', 3100, 0, 65_535);
  if (given === undefined) return null;
  const url = new URL(given);
  if (url.origin !== given) fault(`DESK_URL must be an address without a path, as ${url.origin}.`);
  if (mode === 'live' && url.protocol !== 'https:')
    fault('DESK_URL must begin with https:// when MODE=live.');
  if (mode === 'live' && url.hostname === new URL(publicUrl).hostname)
    fault('DESK_URL must have another host than PUBLIC_URL.');
  return { url: url.origin, port };
}
