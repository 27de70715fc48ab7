import { isIP } from 'node:net';
import type { SettingReader } from './reader.ts';

/**
 * Reads TRUST_PROXY, the proxies in front of the server. In live mode it must be set: rate limits count callers by the address that
 * a trusted proxy reports.
 */
export function readProxies({ get, fault }: SettingReader, mode: 'local' | 'live'): false | string[] {
  const given = get('TRUST_PROXY');
  if (given === undefined && mode === 'live')
    fault(
      "TRUST_PROXY is missing: MODE=live wants to be told whose X-Forwarded-For is believed. Set the proxies' addresses (CIDR, commas between), or none.",
    );
  if (given === undefined || given === 'none' || given === 'false') return false;
  const proxies = given.split(/\s*,\s*/);
  const wrong = proxies.find((proxy) => !isNetwork(proxy));
  if (given === 'true' || proxies.some((proxy) => isNetwork(proxy) && proxy.endsWith('/0')))
    fault(
      `TRUST_PROXY=${given} would believe whatever address a caller claims to have. Name the proxies' addresses (CIDR, commas between), or none.`,
    );
  else if (wrong !== undefined)
    fault(
      `TRUST_PROXY must be the proxies' addresses (CIDR, commas between) or none: "${wrong}" is no address.`,
    );
  return proxies;
}

/** Whether a text is an IP address or a network in CIDR notation, such as 10.0.0.0/8. */
function isNetwork(text: string): boolean {
  const [address = '', bits, ...more] = text.split('/');
  const version = isIP(address);
  const isPrefix =
    bits === undefined || (/^(0|[1-9]\d{0,2})$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128));
  return version !== 0 && isPrefix && more.length === 0;
}
