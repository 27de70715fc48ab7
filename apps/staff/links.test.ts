import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { inflateSync } from 'node:zlib';
import jsQR from 'jsqr';
import { sql } from 'kysely';
import { changeSociety } from '../../tests/harness/changeSociety.ts';
import { newContact } from '../../tests/harness/deliver.ts';
import { askHubspot } from '../../tests/harness/providers.ts';
import { runCommand } from '../../tests/harness/runCommand.ts';
import { sharedServer } from '../../tests/harness/testServer.ts';
import { CrmUnavailable } from '../server/crm/hubspot/errors.ts';
import { mintLink } from '../server/joining/links/mintLink.ts';
import { readLink } from '../server/joining/links/previewLink.ts';

const server = await sharedServer({ PUBLIC_URL: 'https://join.society.example' });
const folder = mkdtempSync(join(tmpdir(), 'induct-links-'));
after(() => rmSync(folder, { recursive: true, force: true }));

/** Returns the link, which is the last line of the command's output. The first line names the recipient. */
const linkIn = (out: string) => out.trimEnd().split('\n').at(-1)!;

/** Signs a checkout link with any parameters, such as a link from before the society changed its products. */
function checkoutLink(parameters: Record<string, string>): string {
  const { links, config, now } = server.deps;
  const target = { kind: 'checkout' as const, contactId: '103', parameters };
  return mintLink(links, config.publicUrl, target, new Date(now().getTime() + 86_400_000));
}

test('a link that was printed tells what it does: contact, product, price, floor, upgrade, expiry', async (t) => {
  await server.deps.contacts.refresh('103');
  const minted = await runCommand(t, server, 'links', [
    'checkout',
    '103',
    '--mp',
    '1',
    '--price',
    '45.00',
    '--days',
    '3',
  ]);
  const { out, code } = await runCommand(t, server, 'links check', [linkIn(minted.out)]);
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
  const minted = await runCommand(t, server, 'links', ['checkout', '103']);
  const { out, code } = await runCommand(t, server, 'links check', [linkIn(minted.out)]);
  assert.equal(code, 0, out);
  for (const line of ['price     $65.00 (floor $20.00)', 'upgrade   10 Distinguished Member upgrade, $45.00'])
    assert.ok(out.includes(line), `${line}\nin\n${out}`);
});

test('a link with an upgrade of its own tells that one, and is refused when it is none', async (t) => {
  const check = async (usp: string) => {
    return runCommand(t, server, 'links check', [checkoutLink({ mp: '1', usp })]);
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
  const minted = await runCommand(t, server, 'links', ['init', '103']);
  const { out, code } = await runCommand(t, server, 'links check', [linkIn(minted.out)]);
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
  const minted = await runCommand(t, server, 'links', ['init', old]);
  const { out } = await runCommand(t, server, 'links check', [linkIn(minted.out)]);
  assert.match(out, new RegExp(`^contact {3}${old} \\(Prudence\\)$`, 'm'));
});

test('a link to a contact who is a member tells that they are one', async (t) => {
  await server.deps.contacts.refresh('105');
  const minted = await runCommand(t, server, 'links', ['resume', '105']);
  const { out } = await runCommand(t, server, 'links check', [linkIn(minted.out)]);
  assert.match(out, /^contact {3}105 \(.+, already a member\)$/m);
});

test('a checkout link to a contact that was deleted is told to sell nothing', async (t) => {
  await server.deps.contacts.refresh('104');
  const minted = await runCommand(t, server, 'links', ['checkout', '104']);
  await sql`update person set deleted_at = now() where contact_id = '104'`.execute(server.deps.database);
  const { out, code } = await runCommand(t, server, 'links check', [linkIn(minted.out)]);
  assert.equal(code, 1, out);
  assert.match(out, /the contact was deleted in HubSpot/);
});

test('a link whose price is no amount is told to sell nothing', async (t) => {
  for (const [c, says] of [
    ...['abc', '-5', '45.00'].map((c) => [c, `“c=${c}” cannot be read`] as const),
    ['99999999999', 'price     c=99999999999 is no amount in cents'],
  ] as const) {
    const { out, code } = await runCommand(t, server, 'links check', [checkoutLink({ mp: '1', c })]);
    assert.deepEqual([code, out.includes(says)], [1, true], out);
  }
});

test('a price is given in dollars', async (t) => {
  const price = async (...args: string[]) =>
    runCommand(t, server, 'links', ['checkout', '103', '--mp', '1', ...args]);
  for (const typed of ['45', '45.0', '45.00', '$45', '$45.00', ' 45 ']) {
    const { out, code } = await price('--price', typed);
    assert.deepEqual([code, new URL(linkIn(out)).searchParams.get('c')], [0, '4500'], typed);
  }
  for (const typed of ['', '45,00', '45.001', '45 cents', '4e3', '-45', '45$', 'free']) {
    const { out, code } = await price(`--price=${typed}`);
    assert.deepEqual(
      [code, out.split('\n')[0]],
      [2, `"${typed}" is not a price in dollars, such as 45 or 45.00.`],
    );
  }
  assert.deepEqual((await price('--c', '4500')).code, 2);
});

test('for whom a link is, what it sells and until when is told beside the link', async (t) => {
  const told = async (...args: string[]) => {
    const { out } = await runCommand(t, server, 'links', [...args, '--days', '3']);
    return out.split('\n')[0]!;
  };
  const until = `${new Date(server.deps.now().getTime() + 3 * 86_400_000).toISOString().slice(0, 15)}.Z\\.`;
  const sells = 'sells Membership at \\$45\\.00, then offers Distinguished Member upgrade at \\$45\\.00';
  assert.match(
    await told('checkout', '103', '--mp', '1', '--price', '45'),
    new RegExp(`^Sam Okafor \\(contact 103\\): ${sells}; expires ${until}$`),
  );
  assert.match(await told('init', '103'), new RegExp(`: starts a join; expires ${until}$`));
  assert.match(await told('resume', '103'), new RegExp(`: takes a resume; expires ${until}$`));
});

/** Contacts for whom no link of a kind is signed, each with the reason. */
async function refusedContacts() {
  const deleted = await newContact(server, 'link.deleted@example.com');
  await server.deps.contacts.refresh(deleted);
  await askHubspot(server.hubspotUrl, 'DELETE', `/${deleted}`);
  // Somebody has followed an older link with an id that HubSpot does not have.
  await sql`insert into person (contact_id) values ('987654320') on conflict do nothing`.execute(
    server.deps.database,
  );
  return [
    ['987654321', ['init'], /is known neither here nor to HubSpot/],
    ['987654320', ['resume'], /is known neither here nor to HubSpot/],
    [deleted, ['resume'], /was deleted in HubSpot/],
    [deleted, ['checkout'], /was deleted in HubSpot/],
    ['105', ['init'], /is a member already/],
    ['105', ['checkout', '--mp', '1'], /is a member already/],
    ['103', ['checkout', '--mp', '11'], /is not a member, and only members can buy an upgrade/],
  ] as const;
}

test('no link is signed for whom nobody knows, who was deleted, or to whom it would sell nothing, nor in a file', async (t) => {
  for (const [index, [contact, [kind, ...more], why]] of (await refusedContacts()).entries()) {
    const one = await runCommand(t, server, 'links', [kind, contact, ...more]);
    assert.deepEqual([one.code, why.test(one.out), one.out.includes('https://')], [1, true, false], one.out);
    const file = join(folder, `refused${index}.csv`);
    writeFileSync(file, `contactId\n${contact}\n`);
    const all = await runCommand(t, server, 'links', [kind, file, ...more]);
    assert.match(all.out, /^line 2: .*no link is signed/m);
    assert.deepEqual([all.code, why.test(all.out), all.out.includes('https://')], [1, true, false], all.out);
  }
  const upgrade = await runCommand(t, server, 'links', ['checkout', '105', '--mp', '11']);
  assert.equal(upgrade.code, 0, upgrade.out);
});

test('while HubSpot cannot be asked, links are signed for whom the mirror does not refuse, and that is told', async (t) => {
  await server.deps.contacts.refresh('105');
  t.mock.method(server.hubspot, 'readContacts', async () => {
    throw new CrmUnavailable('down');
  });
  for (const [contact, mp] of [
    ['987654322', '1'],
    ['103', '1'],
    ['103', '11'],
  ] as const) {
    const { out, code } = await runCommand(t, server, 'links', ['checkout', contact, '--mp', mp]);
    assert.equal(code, 0, out);
    assert.match(
      out,
      new RegExp(`${contact}\\)?: sells .*\\n.*${contact}\\)? could not be looked up in HubSpot\\.\\nhttps:`),
    );
  }
  const member = await runCommand(t, server, 'links', ['checkout', '105', '--mp', '1']);
  assert.deepEqual([member.code, /is a member already/.test(member.out)], [1, true]);
});

test("a number that HubSpot cannot have as an id stands in nobody's way", async (t) => {
  const file = join(folder, 'ids.csv');
  writeFileSync(file, 'contactId\n99999999999999999999\n0103\n103\n');
  const { out } = await runCommand(t, server, 'links', ['init', file]);
  assert.match(
    out,
    /^line 2: .*known neither here nor to HubSpot\.\nline 3: .*known neither .*\nline 4: .*\n103,https:/m,
  );
  assert.doesNotMatch(out, /could not be looked up/);
});

test('of a file larger than a batch, every contact is told and gets its link, in order', async (t) => {
  const file = join(folder, 'many.csv');
  const ids = Array.from({ length: 250 }, (_, index) => ['103', '104', '987654321', 'x'][index % 4]!);
  writeFileSync(file, ['contactId', ...ids].join('\n'));
  const { out, code } = await runCommand(t, server, 'links', ['init', file]);
  assert.equal(code, 1);
  const links = out.split('\n').filter((line) => line.includes('https://'));
  assert.deepEqual(
    links.map((line) => line.split(',')[0]),
    ids.filter((id) => id === '103' || id === '104'),
  );
  assert.equal(out.split('\n').filter((line) => line.startsWith('line ')).length, 250);
});

test('--qr writes the link as a code that a reader reads', async (t) => {
  for (const [name, pixels] of [
    ['code.png', pixelsOfPng],
    ['code.SVG', pixelsOfSvg],
  ] as const) {
    const file = join(folder, name);
    const { out, code } = await runCommand(t, server, 'links', ['checkout', '103', '--qr', file]);
    assert.equal(code, 0, out);
    const { data, side } = pixels(readFileSync(file));
    assert.equal(jsQR.default(data, side, side)?.data, linkIn(out));
  }
});

test('--qr does not overwrite, and takes no other ending, folder or file of links', async (t) => {
  const there = join(folder, 'there.svg');
  const file = join(folder, 'some.csv');
  writeFileSync(there, 'kept');
  writeFileSync(file, 'contactId\n103\n');
  for (const [subject, qr, status, why] of [
    ['103', there, 1, /there\.svg is there already/],
    ['103', join(folder, 'nowhere', 'code.png'), 1, /could not be read or written \(ENOENT\)/],
    ['103', join(folder, 'code.jpg'), 2, /ends with \.svg or \.png, not ".*code\.jpg"/],
    ['103', '', 2, /ends with \.svg or \.png/],
    [file, join(folder, 'codes.svg'), 2, /for a single link, not for a file/],
  ] as const) {
    const { out, code } = await runCommand(t, server, 'links', ['init', subject, `--qr=${qr}`]);
    assert.deepEqual([code, why.test(out), out.includes('https://')], [status, true, false], out);
  }
  assert.equal(readFileSync(there, 'utf8'), 'kept');
});

/** Returns black and white pixels (RGBA), as jsQR reads them. */
function readable(side: number, isLight: (x: number, y: number) => boolean) {
  const data = new Uint8ClampedArray(side * side * 4).fill(255);
  for (let at = 0; at < side * side; at++)
    if (!isLight(at % side, Math.floor(at / side))) data.fill(0, at * 4, at * 4 + 3);
  return { data, side };
}

/** Reads a PNG of two colours without filters, in one chunk: a bit for each pixel, 1 for black. */
function pixelsOfPng(file: Buffer) {
  const side = file.readUInt32BE(16);
  const at = file.indexOf('IDAT');
  const rows = inflateSync(file.subarray(at + 4, at + 4 + file.readUInt32BE(at - 4)));
  const bytes = Math.ceil(side / 8) + 1;
  return readable(side, (x, y) => ((rows[y * bytes + 1 + (x >> 3)]! << (x & 7)) & 0x80) === 0);
}

/** Reads an SVG of one path, whose outlines have whole coordinates: a module is dark if a ray from it crosses them an odd number of times. */
function pixelsOfSvg(file: Buffer) {
  const svg = file.toString();
  const [left, , side] = /viewBox="([^"]+)"/.exec(svg)![1]!.split(' ').map(Number) as [
    number,
    number,
    number,
  ];
  const outlines = /<path d="([^"]+)"/.exec(svg)![1]!.split('Z').filter(Boolean);
  const corners = outlines.map((outline) =>
    [...outline.matchAll(/(\d+) (\d+)/g)].map(([, x, y]) => [Number(x), Number(y)] as const),
  );
  const isLight = (x: number, y: number) => {
    const crossed = corners.flatMap((outline) =>
      outline.filter(([ax, ay], index) => {
        const [, by] = outline[(index + 1) % outline.length]!;
        return ay > y + 0.5 !== by > y + 0.5 && ax > x + 0.5;
      }),
    );
    return crossed.length % 2 === 0;
  };
  return readable(side * 4, (x, y) => isLight(Math.floor(x / 4) + left, Math.floor(y / 4) + left));
}

test('a link that was changed, has expired, sells too low or leads elsewhere is refused, and why is said', async (t) => {
  const check = async (url: string) => await runCommand(t, server, 'links check', [url]);
  const mint = async (...args: string[]) => linkIn((await runCommand(t, server, 'links', args)).out);
  const good = await mint('checkout', '103', '--mp', '1', '--price', '45');
  const changed = await check(good.replace('c=4500', 'c=2500'));
  assert.deepEqual([changed.code, /Refused: This link is not valid/.test(changed.out)], [1, true]);
  const low = await check(checkoutLink({ mp: '1', c: '1999' }));
  assert.deepEqual([low.code, /price {5}\$19\.99 is too low \(floor \$20\.00\)/.test(low.out)], [1, true]);
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
    [['--price', '0.45'], /\$0\.45 is too low \(floor \$20\.00\)/],
    [['--price', '0'], /\$0\.00 is too low/],
    [['--price', '$999,999'], /\$999,999\.00 is too high/],
    [['--mp', '30'], /30 cannot be bought with a link/],
    [['--mp', '999'], /999 cannot be bought with a link/],
    [['--usp', '2'], /2 is not an upgrade/],
  ] as const)
    for (const subject of ['103', file]) {
      const { out, code } = await runCommand(t, server, 'links', ['checkout', subject, ...args]);
      assert.deepEqual([code, why.test(out), out.includes('https://')], [1, true, false], out);
    }
});

test('a link is good for a hundred years at most', async (t) => {
  const { out, code } = await runCommand(t, server, 'links', ['init', '103', '--days', '36500']);
  assert.equal(code, 0, out);
  assert.match(out, /[?&]exp=\d+&/);
  for (const days of ['36501', '999999999', '0', '-1', '1.5']) {
    const refused = await runCommand(t, server, 'links', ['checkout', '103', `--days=${days}`]);
    assert.deepEqual([refused.code, refused.out.startsWith('Usage: ')], [2, true], refused.out);
  }
});

test('no link is signed that would begin a join in a retired programme', async (t) => {
  changeSociety(t, server, (source) =>
    source.replace('name: Honor Collegians\n', 'name: Honor Collegians\n    retired: true\n'),
  );
  const sign = (contact: string, mp: string) =>
    runCommand(t, server, 'links', ['checkout', contact, '--mp', mp]);
  const membership = await sign('103', '3');
  assert.deepEqual(
    [membership.code, membership.out],
    [
      1,
      'No link is signed, since it could sell nothing:\nproduct   3 begins a join, and its programme undergraduate is retired\n',
    ],
  );
  assert.equal((await sign('105', '11')).code, 0, 'members may buy the upgrade');
});

test('no link is signed whose upgrade is retired, and a printed one sells its membership', async (t) => {
  const printed = checkoutLink({ mp: '1', usp: '11' });
  changeSociety(t, server, (source) => source.replace(/( +)- id: 11\n/, '$&$1  retired: true\n'));
  const retired =
    'upgrade   11 Distinguished Member upgrade is retired: nothing is offered after the purchase';
  const { out, code } = await runCommand(t, server, 'links', ['checkout', '103', '--usp', '11']);
  assert.equal(code, 1);
  assert.ok(out.startsWith('No link is signed, since its upgrade is retired:\n'), out);
  assert.ok(out.includes(retired), out);
  const check = await runCommand(t, server, 'links check', [printed]);
  assert.deepEqual([check.code, check.out.includes(retired)], [0, true], check.out);
  const { exp = '', sig = '' } = readLink(new URL(printed))!;
  const { status } = await server.client().call('initiateCheckout', {
    body: { hubspotContactId: '103', mainProductId: 1, upsellProductId: 11, exp, sig },
  });
  assert.equal(status, 200);
  const { out: cheap } = await runCommand(t, server, 'links', [
    'checkout',
    '103',
    '--usp',
    '11',
    '--price',
    '0.45',
  ]);
  assert.ok(cheap.startsWith('No link is signed, since it could sell nothing:\n'), cheap);
});

test('of a file, every contact gets a link that holds, and a bad line is named', async (t) => {
  const file = join(folder, 'campaign.csv');
  writeFileSync(file, 'name,contactId\nSam,103\nNobody,x\nPriya,104\n"Lee,105\n');
  const { out, code } = await runCommand(t, server, 'links', ['resume', file]);
  const lines = out.trim().split(/\r?\n/);
  assert.equal(code, 1);
  assert.equal(lines[0], 'contactId,link');
  assert.match(out, /line 3: "x" is not a contact id/);
  assert.match(out, /line 5: opens a quote that is not closed/);
  const links = lines.filter((line) => line.includes('https://')).map((line) => line.split(',')[1]!);
  assert.equal(links.length, 2);
  for (const link of links) assert.equal((await runCommand(t, server, 'links check', [link])).code, 0);
  assert.equal((await runCommand(t, server, 'links', ['resume', 'nowhere.csv'])).code, 1);
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
    const { out, code } = await runCommand(t, server, 'links', ['init', file]);
    assert.deepEqual([code, out], [1, sentence]);
  }
});

test('a link with escaped ampersands is checked as it was sent, and one that cannot be read is told', async (t) => {
  const link = checkoutLink({ mp: '1', c: '4500' });
  const escaped = await runCommand(t, server, 'links check', [link.replaceAll('&', '&amp;')]);
  assert.deepEqual([escaped.code, escaped.out.includes('$45.00')], [0, true], escaped.out);
  const { out, code } = await runCommand(t, server, 'links check', [link.replace('4500', '45.00')]);
  assert.deepEqual([code, out], [1, 'It sells nothing: “c=45.00” cannot be read.\n']);
});
