import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mintLink } from '../joining/links/mintLink.ts';
import { readLink } from '../joining/links/previewLink.ts';
import { Refusal } from '../platform/http/refusal.ts';
import { LINK_EXPIRED, LINK_INVALID, type LinkTarget, signedLinks } from './links.ts';

const now = new Date('2026-11-01T12:00:00Z');
const later = new Date('2026-12-01T12:00:00Z');
const links = signedLinks(['a secret of some length'], false, () => now);
const target: LinkTarget = { kind: 'checkout', contactId: '103', parameters: { mp: '1', c: '4500' } };
const refusedWith = (message: string) => (error: unknown) =>
  error instanceof Refusal && error.status === 403 && error.message === message;

test('a signed link may be followed until it expires', () => {
  links.check(target, links.sign(target, later));
  assert.throws(
    () => links.check(target, links.sign(target, new Date(now.getTime() - 1000))),
    refusedWith(LINK_EXPIRED),
  );
});

const tampered: [string, LinkTarget][] = [
  ['another contact', { ...target, contactId: '104' }],
  ['another price', { ...target, parameters: { mp: '1', c: '50' } }],
  ['no price', { ...target, parameters: { mp: '1' } }],
  ['an offer added', { ...target, parameters: { mp: '1', c: '4500', usp: '10' } }],
  ['another page', { ...target, kind: 'init' }],
];
for (const [what, other] of tampered)
  test(`a link changed to ${what} is not valid`, () => {
    assert.throws(() => links.check(other, links.sign(target, later)), refusedWith(LINK_INVALID));
  });

test('an expiry put off, no signature, nonsense, or another secret is not valid', () => {
  const { exp, sig } = links.sign(target, later);
  for (const signature of [
    { exp: String(Number(exp) + 1), sig },
    { exp },
    { sig },
    {},
    { exp, sig: 'x' },
    { exp, sig: '' },
  ])
    assert.throws(() => links.check(target, signature), refusedWith(LINK_INVALID));
  assert.throws(
    () => signedLinks(['another secret'], false, () => now).check(target, { exp, sig }),
    refusedWith(LINK_INVALID),
  );
});

test('where unsigned links are permitted, a wrong signature or a half of one is still refused', () => {
  const open = signedLinks(['a secret of some length'], true, () => now);
  open.check(target, {});
  const { exp, sig } = open.sign(target, later);
  for (const signature of [{ exp: '1', sig: 'x' }, { exp }, { sig }])
    assert.throws(() => open.check(target, signature), refusedWith(LINK_INVALID));
});

test('the minted address carries everything that the page reads', () => {
  const url = new URL(mintLink(links, 'https://join.society.example', target, later));
  assert.equal(url.pathname, '/initialize/checkout');
  const { vid, exp, sig, ...parameters } = Object.fromEntries(url.searchParams);
  assert.equal(vid, '103');
  links.check(
    { kind: 'checkout', contactId: vid!, parameters: parameters as Record<string, string> },
    { exp, sig },
  );
});

test('the order of the parameters of a link does not matter', () => {
  const { mp, c } = target.parameters!;
  links.check({ ...target, parameters: { c: c!, mp: mp! } }, links.sign(target, later));
});

test('only the addresses of the pages that links lead to are read as links', () => {
  const read = (address: string) =>
    readLink(new URL(address, 'https://join.society.example'))?.target ?? null;
  assert.deepEqual(read('/initialize/checkout?vid=103&mp=1&c=4500&exp=1&sig=x&utm_source=mail'), target);
  assert.deepEqual(read('/registration/103/init'), { kind: 'init', contactId: '103' });
  assert.deepEqual(read('/upload-resume/103'), { kind: 'resume', contactId: '103' });
  for (const other of [
    '/initialize/checkout?mp=1',
    '/registration/checkout?vid=103',
    '/?vid=103',
    '/103/init',
  ])
    assert.equal(read(other), null, other);
});
