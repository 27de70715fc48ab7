import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { countedAddress } from './countedAddress.ts';

for (const [address, counted] of [
  ['198.51.100.7', '198.51.100.7'],
  ['::ffff:198.51.100.7', '198.51.100.7'],
  ['::ffff:c633:6407', '198.51.100.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:db8:1:2::', '2001:db8:1:2::/64'],
  ['2001:DB8::1', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  // Azure Application Gateway appends the caller's port to X-Forwarded-For.
  ['198.51.100.7:5678', '198.51.100.7'],
  ['[2001:db8:1:2::7]:5678', '2001:db8:1:2::/64'],
  ['[2001:db8:1:2::7]', '2001:db8:1:2::/64'],
  ['[::ffff:198.51.100.7]:443', '198.51.100.7'],
  ['unknown', 'unknown'],
  ['', ''],
] as const)
  test(`${address} is counted as ${counted}`, () => {
    assert.equal(countedAddress(address), counted);
  });

test('an IPv6 address is counted by its first 64 bits, however it is written, and no others', () => {
  const group = fc.nat(0xffff).map((value) => value.toString(16));
  const groups = (count: number) => fc.array(group, { minLength: count, maxLength: count });
  const isMapped = (parts: string[]) => parts.slice(0, 4).every((part) => part === '0');
  fc.assert(
    fc.property(groups(4), groups(4), groups(4), (network, one, two) => {
      fc.pre(!isMapped(network));
      const written = [...network, ...one].join(':');
      assert.equal(countedAddress(written), countedAddress([...network, ...two].join(':')));
      assert.equal(countedAddress(written.toUpperCase()), countedAddress(written));
      const other = [(Number.parseInt(network[0]!, 16) ^ 1).toString(16), ...network.slice(1)];
      assert.notEqual(countedAddress(written), countedAddress([...other, ...one].join(':')));
    }),
  );
});

test('an IPv4 address is the same one within IPv6', () => {
  fc.assert(
    fc.property(fc.ipV4(), (address) => {
      assert.equal(countedAddress(`::ffff:${address}`), countedAddress(address));
    }),
  );
});
