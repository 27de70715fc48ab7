import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { sql } from 'kysely';
import { changeSociety } from '../../../tests/harness/changeSociety.ts';
import { newContact } from '../../../tests/harness/deliver.ts';
import { askHubspot } from '../../../tests/harness/providers.ts';
import { runCommand } from '../../../tests/harness/runCommand.ts';
import { sharedServer } from '../../../tests/harness/testServer.ts';
import { linkCheckCommand, linksCommand } from './linksCommand.ts';
import { mintLink } from './mintLink.ts';
import { readLink } from './previewLink.ts';

const server = await sharedServer({ PUBLIC_URL: 'https://join.society.example' });
const folder = mkdtempSync(join(tmpdir(), 'induct-links-'));
after(() => rmSync(folder, { recursive: true, force: true }));

/** Signs a checkout link with any parameters, such as a link from before the society changed its products. */
function checkoutLink(parameters: Record<string, string>): string {
  const { links, config, now } = server.deps;
  const target = { kind: 'checkout' as const, contactId: '103', parameters };
  return mintLink(links, config.publicUrl, target, new Date(now().getTime() + 86_400_000));
}

test('a link that was printed tells what it does: contact, product, price, floor, upgrade, expiry', async (t) => {
  await server.deps.contacts.refresh('103');
  const minted = await runCommand(t, server, linksCommand, [
    'checkout',
    '103',
    '--mp',
    '1',
    '--c',
    '4500',
    '--days',
    '3',
  ]);
  const { out, code } = await runCommand(t, server, linkCheckCommand, [minted.out.trim()]);
  const expires = new Date(server.deps.now().getTime() + 3 * 86_400_000).toISOString().slice(0, 13);
  assert.equal(code, 0, out);
  for (const line of [
    'Signed, and it may be followed.',
    `expires   ${expires}`,
    'contact   103 (Sam Okafor)',
    'does      starts a checkout',
    'product   1 Membership, $65.00',
    'price     $45.00 (floor $20.00)',
    'upgrade   10 Distinguished Member upgrade, $45.00',
  ])
    assert.ok(out.includes(line), `${line}\nin\n${out}`);
});

test('a link without a price or an upgrade of its own tells those of the product', async (t) => {
  const minted = await runCommand(t, server, linksCommand, ['checkout', '103']);
  const { out, code } = await runCommand(t, server, linkCheckCommand, [minted.out.trim()]);
  assert.equal(code, 0, out);
  for (const line of ['price     $65.00 (floor $20.00)', 'upgrade   10 Distinguished Member upgrade, $45.00'])
    assert.ok(out.includes(line), `${line}\nin\n${out}`);
});

test('a link with an upgrade of its own tells that one, and is refused when it is none', async (t) => {
  const check = async (usp: string) => {
    return runCommand(t, server, linkCheckCommand, [checkoutLink({ mp: '1', usp })]);
  };
  const good = await check('11');
  assert.deepEqual(
    [good.code, /upgrade {3}11 Distinguished Member upgrade, \$55\.00/.test(good.out)],
    [0, true],
  );
  const wrong = await check('2');
  assert.deepEqual([wrong.code, /upgrade {3}2 is not an upgrade/.test(wrong.out)], [1, true]);
});

test('a link that starts a join tells of no product', async (t) => {
  await server.deps.contacts.refresh('103');
  const minted = await runCommand(t, server, linksCommand, ['init', '103']);
  const { out, code } = await runCommand(t, server, linkCheckCommand, [minted.out.trim()]);
  assert.equal(code, 0, out);
  assert.match(out, /does {6}starts a join\n$/);
});

test('a link to a contact that was merged tells of the one that it is now', async (t) => {
  const old = await newContact(server, 'link.of.old@example.com', { firstname: 'Before' });
  const kept = await newContact(server, 'link.of.kept@example.com', { firstname: 'Prudence' });
  for (const id of [old, kept]) await server.deps.contacts.refresh(id);
  const merge = { primaryObjectId: kept, objectIdToMerge: old };
  const { id } = await askHubspot(server.hubspotUrl, 'POST', '/merge', merge);
  await server.deps.contacts.refresh(id);
  const minted = await runCommand(t, server, linksCommand, ['init', old]);
  const { out } = await runCommand(t, server, linkCheckCommand, [minted.out.trim()]);
  assert.match(out, new RegExp(`^contact {3}${old} \\(Prudence\\)$`, 'm'));
});

test('a link to a contact who is a member tells that they are one', async (t) => {
  await server.deps.contacts.refresh('105');
  const minted = await runCommand(t, server, linksCommand, ['init', '105']);
  const { out } = await runCommand(t, server, linkCheckCommand, [minted.out.trim()]);
  assert.match(out, /^contact {3}105 \(.+, already a member\)$/m);
});

test('a checkout link to a contact that was deleted is told to sell nothing', async (t) => {
  await server.deps.contacts.refresh('104');
  await sql`update contact set deleted_at = now() where id = '104'`.execute(server.deps.database);
  const minted = await runCommand(t, server, linksCommand, ['checkout', '104']);
  const { out, code } = await runCommand(t, server, linkCheckCommand, [minted.out.trim()]);
  assert.equal(code, 1, out);
  assert.match(out, /the contact was deleted in HubSpot/);
});

test('a link that was changed, has expired, sells too low or leads elsewhere is refused, and why is said', async (t) => {
  const check = async (url: string) => await runCommand(t, server, linkCheckCommand, [url]);
  const mint = async (...args: string[]) => (await runCommand(t, server, linksCommand, args)).out.trim();
  const good = await mint('checkout', '103', '--mp', '1', '--c', '4500');
  const changed = await check(good.replace('c=4500', 'c=2500'));
  assert.deepEqual([changed.code, /Refused: This link is not valid/.test(changed.out)], [1, true]);
  const low = await check(checkoutLink({ mp: '1', c: '1999' }));
  assert.deepEqual([low.code, /1999 cents is too low \(floor \$20\.00\)/.test(low.out)], [1, true]);
  const item = await check(checkoutLink({ mp: '30' }));
  assert.deepEqual([item.code, /product {3}30 cannot be bought with a link/.test(item.out)], [1, true]);
  const { exp, sig } = server.deps.links.sign(
    { kind: 'init', contactId: '103' },
    new Date(Date.now() - 60_000),
  );
  const old = await check(`https://join.society.example/registration/103/init?exp=${exp}&sig=${sig}`);
  assert.deepEqual([old.code, /Refused: This link has expired/.test(old.out)], [1, true]);
  const elsewhere = await check(good.replace('join.society.example', 'evil.example'));
  assert.deepEqual([elsewhere.code, /It leads to https:\/\/evil\.example/.test(elsewhere.out)], [1, true]);
  assert.equal((await check('https://join.society.example/registration/membership')).code, 1);
  assert.equal((await check('not a link')).code, 2);
});

test('no link is signed that could sell nothing, nor a file of them', async (t) => {
  const file = join(folder, 'dear.csv');
  writeFileSync(file, 'contactId\n103\n');
  for (const [args, why] of [
    [['--c', '45'], /45 cents is too low \(floor \$20\.00\)/],
    [['--c', '999999999'], /999999999 cents is too high/],
    [['--mp', '30'], /30 cannot be bought with a link/],
    [['--mp', '999'], /999 cannot be bought with a link/],
    [['--usp', '2'], /2 is not an upgrade/],
  ] as const)
    for (const subject of ['103', file]) {
      const { out, code } = await runCommand(t, server, linksCommand, ['checkout', subject, ...args]);
      assert.deepEqual([code, why.test(out), out.includes('https://')], [2, true, false], out);
    }
});

test('a link is good for a hundred years at most', async (t) => {
  const { out, code } = await runCommand(t, server, linksCommand, ['init', '103', '--days', '36500']);
  assert.equal(code, 0, out);
  assert.match(out, /[?&]exp=\d+&/);
  for (const days of ['36501', '999999999', '0', '-1', '1.5']) {
    const refused = await runCommand(t, server, linksCommand, ['checkout', '103', `--days=${days}`]);
    assert.deepEqual([refused.code, refused.out.startsWith('Usage: ')], [2, true], refused.out);
  }
});

test('no link is signed that would begin a join in a retired programme', async (t) => {
  changeSociety(t, server, (source) =>
    source.replace('name: Honor Collegians\n', 'name: Honor Collegians\n    retired: true\n'),
  );
  const sign = (mp: string) => runCommand(t, server, linksCommand, ['checkout', '103', '--mp', mp]);
  const membership = await sign('3');
  assert.deepEqual(
    [membership.code, membership.out],
    [
      2,
      'No link is signed, since it could sell nothing:\nproduct   3 begins a join, and its programme undergraduate is retired\n',
    ],
  );
  assert.equal((await sign('11')).code, 0, 'members may buy the upgrade');
});

test('no link is signed whose upgrade is retired, and a printed one sells its membership', async (t) => {
  const printed = checkoutLink({ mp: '1', usp: '11' });
  changeSociety(t, server, (source) => source.replace(/( +)- id: 11\n/, '$&$1  retired: true\n'));
  const retired =
    'upgrade   11 Distinguished Member upgrade is retired: nothing is offered after the purchase';
  const { out, code } = await runCommand(t, server, linksCommand, ['checkout', '103', '--usp', '11']);
  assert.equal(code, 2);
  assert.ok(out.startsWith('No link is signed, since its upgrade is retired:\n'), out);
  assert.ok(out.includes(retired), out);
  const check = await runCommand(t, server, linkCheckCommand, [printed]);
  assert.deepEqual([check.code, check.out.includes(retired)], [0, true], check.out);
  const { exp = '', sig = '' } = readLink(new URL(printed))!;
  const { status } = await server.client().call('initiateCheckout', {
    body: { hubspotContactId: '103', mainProductId: 1, upsellProductId: 11, exp, sig },
  });
  assert.equal(status, 200);
  const { out: cheap } = await runCommand(t, server, linksCommand, [
    'checkout',
    '103',
    '--usp',
    '11',
    '--c',
    '45',
  ]);
  assert.ok(cheap.startsWith('No link is signed, since it could sell nothing:\n'), cheap);
});

test('of a file, every contact gets a link that holds, and a bad line is named', async (t) => {
  const file = join(folder, 'campaign.csv');
  writeFileSync(file, 'name,contactId\nSam,103\nNobody,x\nPriya,104\n"Lee,105\n');
  const { out, code } = await runCommand(t, server, linksCommand, ['resume', file]);
  const lines = out.trim().split(/\r?\n/);
  assert.equal(code, 1);
  assert.equal(lines[0], 'contactId,link');
  assert.match(out, /line 3: "x" is not a contact id/);
  assert.match(out, /line 5: opens a quote that is not closed/);
  const links = lines.filter((line) => line.includes('https://')).map((line) => line.split(',')[1]!);
  assert.equal(links.length, 2);
  for (const link of links) assert.equal((await runCommand(t, server, linkCheckCommand, [link])).code, 0);
  assert.equal((await runCommand(t, server, linksCommand, ['resume', 'nowhere.csv'])).code, 1);
});

test('of a file without the column contactId, that is said once, and no link is printed', async (t) => {
  const file = join(folder, 'contacts.csv');
  for (const [text, sentence] of [
    ['', `${file} is empty: its first line must name the column contactId.\n`],
    [
      'name,contact\nSam,103\nPriya,104\n',
      `The first line of ${file} must name the column contactId; missing: contactId.\n`,
    ],
  ] as const) {
    writeFileSync(file, text);
    const { out, code } = await runCommand(t, server, linksCommand, ['init', file]);
    assert.deepEqual([code, out], [1, sentence]);
  }
});
