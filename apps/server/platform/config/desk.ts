import type { Config } from './config.ts';
import type { SettingReader } from './reader.ts';

/** An identity provider (OpenID Connect) at which staff have accounts. */
export interface DeskProvider {
  issuer: string;
  clientId: string;
  clientSecret: string;
  /** The provider's name on the button "Continue with NAME". */
  name: string;
}

const names: Record<string, string> = {
  'accounts.google.com': 'Google',
  'login.microsoftonline.com': 'Microsoft',
};

/**
 * Reads DESK_URL, DESK_PORT and the identity provider. The desk needs a host of its own, because browsers keep cookies and
 * passkeys separate by host, not by port. With an https URL the server is behind a proxy with TLS, as for the joiners' pages.
 * With an http URL, its host must be localhost: on plain http, browsers send Sec-Fetch-Site and create passkeys only for
 * localhost.
 */
export function readDesk(
  settings: SettingReader,
  { mode, host, publicUrl }: Pick<Config, 'mode' | 'host' | 'publicUrl'>,
): Config['desk'] {
  const { address, integer, fault } = settings;
  const provider = readProvider(settings, mode);
  const given = address('DESK_URL', mode === 'live' ? ['https:'] : ['http:', 'https:']);
  const url = given === undefined ? null : new URL(given);
  const port = integer('DESK_PORT', Number(url?.port) || 3100, 0, 65_535);
  if (url === null) return null;
  if (url.origin !== given) fault(`DESK_URL must be an address without a path, as ${url.origin}.`);
  if (url.protocol === 'https:') {
    if (url.hostname === new URL(publicUrl).hostname)
      fault('DESK_URL must have another host than PUBLIC_URL: browsers give cookies to all ports of a host.');
    return { url: url.origin, host, port, provider };
  }
  if (url.hostname !== 'localhost') fault('DESK_URL must begin with https:// or http://localhost.');
  const isEverywhere = ['0.0.0.0', '::'].includes(host);
  return { url: url.origin, host: isEverywhere ? host : '127.0.0.1', port, provider };
}

function readProvider({ get, address, fault }: SettingReader, mode: Config['mode']): DeskProvider | null {
  const issuer = address('DESK_OIDC_ISSUER', mode === 'live' ? ['https:'] : ['http:', 'https:']);
  const clientId = get('DESK_OIDC_CLIENT_ID');
  const clientSecret = get('DESK_OIDC_CLIENT_SECRET');
  if (!issuer && !clientId && !clientSecret) return null;
  if (!issuer || !clientId || !clientSecret) {
    fault(
      'DESK_OIDC_ISSUER, DESK_OIDC_CLIENT_ID and DESK_OIDC_CLIENT_SECRET go together: set all three, or none.',
    );
    return null;
  }
  const { host } = new URL(issuer);
  return { issuer, clientId, clientSecret, name: names[host] ?? host };
}
