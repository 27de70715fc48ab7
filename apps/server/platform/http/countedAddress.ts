import { isIPv6 } from 'node:net';

/**
 * Returns the counted address of a caller (see CONTEXT.md). An IPv4 address stays whole, even if it is mapped into IPv6
 * (::ffff:0:0/96). An IPv6 address is cut to its first 64 bits, since one household or rented server usually has a whole /64 (RFC
 * 4291, section 2.5.1; RFC 6177). Removes a port, which some load balancers append (198.51.100.7:5678, [2001:db8::1]:443). Returns
 * any other text unchanged.
 */
export function countedAddress(address: string): string {
  const [, bracketed, dotted] = /^(?:\[(.+)\]|([\d.]+))(?::\d+)?$/.exec(address) ?? [];
  // A link-local address may end with its network interface: fe80::1%eth0.
  const plain = (bracketed ?? dotted ?? address).split('%')[0]!;
  if (!isIPv6(plain)) return plain;
  // URL normalizes an IPv6 address to groups of 16 bits.
  const canonical = new URL(`http://[${plain}]`).hostname.slice(1, -1);
  const [before = '', after] = canonical.split('::');
  const left = before === '' ? [] : before.split(':');
  const right = after === undefined || after === '' ? [] : after.split(':');
  const groups = [...left, ...Array<string>(8 - left.length - right.length).fill('0'), ...right];
  if (groups.slice(0, 6).join(':') === '0:0:0:0:0:ffff') {
    const [high, low] = groups.slice(6).map((group) => Number.parseInt(group, 16)) as [number, number];
    return [high >> 8, high & 255, low >> 8, low & 255].join('.');
  }
  return `${groups.slice(0, 4).join(':')}::/64`;
}
