import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { sql } from 'kysely';
import { parse, stringify } from 'yaml';
import { type DownloadName, downloadPath } from '#contract/calls.ts';
import { ALREADY_PAID, PAYMENT_FIRST } from '#core/joinSession.ts';
import { parseMemberNumber } from '#core/memberNumber.ts';
import { OPENED_ELSEWHERE } from '#core/pass.ts';
import { changeSociety } from '../../../tests/harness/changeSociety.ts';
import { proveByCode } from '../../../tests/harness/joinCalls.ts';
import { lacks, textOf } from '../../../tests/harness/pdfTools.ts';
import { undergraduate } from '../../../tests/harness/refunds.ts';
import { staffNotices } from '../../../tests/harness/rows.ts';
import { runCommand } from '../../../tests/harness/runCommand.ts';
import { orderingJoin, paidJoin, payOrder } from '../../../tests/harness/steps.ts';
import { temporaryFolder } from '../../../tests/harness/temporaryFolder.ts';
import { type Client, limitWith, sharedServer } from '../../../tests/harness/testServer.ts';
import { upgradeByLink } from '../../../tests/harness/upgrades.ts';
import { bringStanding } from '../paying/refunds/membershipStanding.ts';
import { refundJoin } from '../paying/refunds/refundJoin.ts';
import { eraseJoins } from '../people/privacy/eraseJoins.ts';

const server = await sharedServer();
const nothing = { membership: false, ineligible: false, upgrade: false, items: 'none' } as const;

async function member(person: Parameters<typeof paidJoin>[3] = {}) {
  const client = server.client();
  const { uuid, intentId } = await paidJoin(server, client, undefined, {
    personalEmail: `member${Math.random()}@example.com`,
    ...person,
  });
  const papers = async () => (await client.call('getWelcome', { params: { uuid } })).data.papers;
  return { client, uuid, intentId, papers, number: (await papers())!.number };
}

async function file(client: Client, name: DownloadName, uuid: string, query = '') {
  const response = await client.fetch(downloadPath(name, { uuid }) + query);
  const bytes = new Uint8Array(await response.arrayBuffer());
  return { status: response.status, headers: response.headers, bytes, message: messageIn(bytes) };
}

function messageIn(bytes: Uint8Array): string | undefined {
  const text = new TextDecoder().decode(bytes);
  return text.startsWith('{') ? (JSON.parse(text) as { message: string }).message : undefined;
}

const verify = async (number: string, client = server.client()) =>
  (await client.call('verifyNumber', { params: { number } })).data;

test('the browser that paid is given a certificate with the name, the programme, the date and the number', {
  skip: lacks('pdftotext'),
}, async () => {
  const { client, uuid, number } = await member({ firstName: 'Zoe\u0308', lastName: "O'Núñez" });
  const { status, headers, bytes } = await file(client, 'certificate', uuid);
  assert.equal(status, 200);
  assert.equal(headers.get('content-type'), 'application/pdf');
  assert.equal(headers.get('cache-control'), 'no-store');
  assert.equal(
    headers.get('content-disposition'),
    `attachment; filename="Certificate - Zo? O'N??ez.pdf"; filename*=UTF-8''Certificate%20-%20Zo%C3%AB%20O%27N%C3%BA%C3%B1ez.pdf`,
  );
  const said = textOf(bytes);
  for (const part of ["Zoë O'Núñez", 'Collegiate Honor Society', 'Honor Scholars', number, 'President'])
    assert.ok(said.includes(part), `${part} in ${said}`);
  assert.ok(said.includes(`${new URL(server.deps.config.publicUrl).host}/verify/${number}`), said);
  assert.doesNotMatch(said, /Distinguished/);
  assert.deepEqual((await file(client, 'certificate', uuid)).bytes, bytes, 'the same bytes');
});

test('the picture of the certificate is of shapes alone, and for the member alone', async () => {
  const { client, uuid } = await member({ firstName: 'Zoë' });
  const { status, headers, bytes } = await file(client, 'certificatePicture', uuid);
  assert.equal(status, 200);
  assert.equal(headers.get('content-type'), 'image/svg+xml');
  const svg = new TextDecoder().decode(bytes);
  assert.match(svg, /^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" width="480" height="360"/);
  assert.doesNotMatch(svg, /<text|<script|Zo/);
  assert.equal((await file(server.client(), 'certificatePicture', uuid)).status, 404);
});

test('an upgrade adds its distinction to the certificate and the release, and changes no number', {
  skip: lacks('pdftotext'),
}, async () => {
  const { client, uuid, intentId, papers, number } = await member();
  await client.call('createUpgradeCharge', { params: { uuid }, body: { paymentIntent: intentId } });
  assert.equal((await papers())!.number, number);
  assert.match(textOf((await file(client, 'certificate', uuid)).bytes), /Distinguished Member/);
  assert.match(
    textOf((await file(client, 'pressRelease', uuid)).bytes),
    /Named Distinguished Member of\s+Collegiate Honor/,
  );
  await refundJoin(server.deps, uuid, { ...nothing, upgrade: true });
  assert.doesNotMatch(textOf((await file(client, 'certificate', uuid)).bytes), /Distinguished/);
});

test('who bought an upgrade alone has the distinction on the certificate of the membership below it', {
  skip: lacks('pdftotext'),
}, async () => {
  const client = server.client();
  const checkout = async (mainProductId: number) => {
    const started = await client.call('initiateCheckout', {
      body: { hubspotContactId: '103', mainProductId },
    });
    const uuid = started.data.joinSessionUuid;
    await payOrder(server, client, uuid);
    await proveByCode(server, client, uuid);
    return uuid;
  };
  // The first membership was refunded, so it is not the base of the upgrade.
  await refundJoin(server.deps, await checkout(1), { ...nothing, membership: true });
  const base = await checkout(1);
  const upgrade = await checkout(10);
  const numberOf = async (uuid: string) =>
    (await client.call('getWelcome', { params: { uuid } })).data.papers?.number;
  assert.equal(await numberOf(upgrade), await numberOf(base));
  for (const uuid of [base, upgrade])
    assert.match(textOf((await file(client, 'certificate', uuid)).bytes), /Distinguished Member/);
});

test('an upgrade that was bought by a link leaves programme and date of the membership on the certificate', {
  skip: lacks('pdftotext'),
}, async () => {
  const base = await paidJoin(server, server.client(), 'HONOR104', { personalEmail: 'of.both@example.com' });
  await sql`update payment set succeeded_at = '2026-03-15T12:00Z' where intent_id = ${base.intentId}`.execute(
    server.deps.database,
  );
  const { client, uuid, intentId } = await upgradeByLink(server, '104', { productId: 11 });
  const body = { paymentIntent: intentId, paymentIntentClientSecret: '', redirectStatus: 'succeeded' };
  await client.call('postPayment', { params: { uuid }, body });
  await proveByCode(server, client, uuid);
  const { name } = server.deps.society.programme(server.deps.society.defaultProgramme);
  const text = textOf((await file(client, 'certificate', uuid)).bytes).replace(/\s+/g, ' ');
  assert.ok(text.toLowerCase().includes(name.toLowerCase()), text);
  assert.match(text, /Admitted March 15, 2026/);
});

test('the paper is that of the country, or the one that was asked for', async () => {
  const boxOf = async (country: string, query = '') => {
    const { client, uuid } = await member({ country, state: country === 'Germany' ? 'Berlin' : 'Texas' });
    const { bytes } = await file(client, 'certificate', uuid, query);
    return /\/MediaBox \[([^\]]+)\]/.exec(Buffer.from(bytes).toString('latin1'))?.[1];
  };
  assert.equal(await boxOf('United States'), '0 0 792 612');
  assert.equal(await boxOf('Germany'), '0 0 841.89 595.28');
  assert.equal(await boxOf('Germany', '?paper=letter'), '0 0 792 612');
  assert.equal(await boxOf('United States', '?paper=a4'), '0 0 841.89 595.28');
  const { client, uuid } = await member();
  assert.equal((await file(client, 'certificate', uuid, '?paper=a3')).status, 400);
});

test('the date is that of the place of the society', { skip: lacks('pdftotext') }, async (t) => {
  const { client, uuid, intentId, number } = await member();
  await sql`update payment set succeeded_at = '2026-11-24T03:00:00Z' where intent_id = ${intentId}`.execute(
    server.deps.database,
  );
  const date = async () =>
    /Admitted (\w+ \d+, \d+)/.exec(textOf((await file(client, 'certificate', uuid)).bytes))?.[1];
  assert.equal(await date(), 'November 23, 2026');
  assert.deepEqual(await verify(number), {
    standing: 'valid',
    number,
    since: 'November 23, 2026',
    society: 'Collegiate Honor Society',
    programme: 'Honor Scholars',
  });
  changeSociety(t, server, (source) => source.replace('timeZone: America/Chicago', 'timeZone: UTC'));
  assert.equal(await date(), 'November 24, 2026');
});

test('a press release of an undergraduate names no high school: nobody asked where they study', async () => {
  const { client, uuid } = await undergraduate(server);
  const { text } = (await client.call('getPressRelease', { params: { uuid } })).data;
  assert.match(text, /– Jordan Rivera has been admitted to Honor Collegians/);
  assert.doesNotMatch(text, /High School|student at/);
});

test('a press release has what was given, as a file and as text', { skip: lacks('pdftotext') }, async () => {
  const { client, uuid, number } = await member({
    firstName: 'Robin',
    lastName: 'Lee',
    city: '北京 Beijing',
  });
  const { text } = (await client.call('getPressRelease', { params: { uuid } })).data;
  assert.match(text, /^Robin Lee Admitted to Collegiate Honor Society$/m);
  assert.match(
    text,
    /^北京 BEIJING, Texas, \w+ \d+, \d{4} – Robin Lee, a student at Austin High School, has been/m,
  );
  assert.match(text, /“.+,” said the President of Collegiate Honor Society\./);
  assert.match(text, new RegExp(`/verify/${number}`));
  assert.match(text, /\(555\) 010-0144/);
  const { status, bytes } = await file(client, 'pressRelease', uuid);
  assert.equal(status, 200);
  const said = textOf(bytes).replace(/\s+/g, ' ');
  assert.match(said, /Robin Lee Admitted to Collegiate Honor Society Texas, \w+ \d+, \d{4} – Robin Lee/);

  await client.call('setVerification', { params: { uuid }, body: { isVerifiable: false } });
  const { data } = await client.call('getPressRelease', { params: { uuid } });
  assert.doesNotMatch(data.text, /verify/, 'nobody is sent to a page that knows nothing');
});

test('a name in letters that the typeface has not is told to the member and once to staff, and never printed', async () => {
  const { client, uuid, papers } = await member({ firstName: 'محمد', lastName: 'Ali' });
  const { database } = server.deps;
  await database.deleteFrom('staff_notice').where('session_uuid', '=', uuid).execute();
  const { problem } = (await papers())!;
  assert.match(
    problem!,
    /Latin, Greek and Cyrillic letters, and your name has others \(م ح د\)\. We have been notified/,
  );
  for (const name of ['certificate', 'pressRelease'] as const) {
    const { status, message } = await file(client, name, uuid);
    assert.deepEqual([status, message], [409, problem]);
  }
  const [told, ...more] = await staffNotices(server, { uuid, kind: 'certificate_name' });
  assert.deepEqual(more, []);
  assert.match(told!, /operator -- certificate .+ --name/);
  assert.doesNotMatch(told!, /Ali/, 'a notice names nobody');
  const { text } = (await client.call('getPressRelease', { params: { uuid } })).data;
  assert.match(text, /^محمد Ali Admitted/m);
});

test('papers are for the browser that paid, after payment, while the membership is held', async () => {
  const { client, uuid, number, papers } = await member();
  const stranger = server.client();
  for (const name of ['certificate', 'pressRelease'] as const) {
    const refused = await file(stranger, name, uuid);
    assert.deepEqual([refused.status, refused.message], [404, OPENED_ELSEWHERE]);
  }
  assert.equal((await stranger.call('getPressRelease', { params: { uuid } })).status, 404);
  const hide = { params: { uuid }, body: { isVerifiable: false } };
  assert.equal((await stranger.call('setVerification', hide)).status, 404);
  assert.equal((await verify(number)).standing, 'valid', 'a stranger hides nothing');

  const unknown = '00000000-0000-4000-8000-000000000000';
  assert.equal((await file(client, 'certificate', unknown)).status, 404);
  const open = server.client();
  const ordering = await orderingJoin(open);
  const early = await file(open, 'certificate', ordering);
  assert.deepEqual([early.status, early.message], [409, PAYMENT_FIRST]);
  assert.notEqual(early.message, ALREADY_PAID);
  assert.equal((await open.call('setVerification', { ...hide, params: { uuid: ordering } })).status, 409);

  await refundJoin(server.deps, uuid, { ...nothing, membership: true });
  assert.equal(await papers(), null);
  for (const name of ['certificate', 'pressRelease'] as const) {
    const { status, message } = await file(client, name, uuid);
    assert.equal(status, 409);
    assert.match(message!, /no longer valid/);
  }
  assert.equal((await client.call('setVerification', hide)).status, 409);
});

test('a join asks for so many papers, and then waits; the picture of the welcome page uses up none', async (t) => {
  const { client, uuid } = await member();
  limitWith(t, server, { LIMIT_PAPERS_PER_SESSION: '2/60' });
  const ask = async () => (await client.call('getPressRelease', { params: { uuid } })).status;
  assert.deepEqual([await ask(), await ask(), await ask()], [200, 200, 429]);
  const { status, headers } = await file(client, 'certificate', uuid);
  assert.deepEqual([status, headers.get('retry-after')], [429, '3600']);
  assert.equal((await file(server.client(), 'certificate', uuid)).status, 404, 'nobody else uses it up');
  const see = async () => (await file(client, 'certificatePicture', uuid)).status;
  assert.deepEqual([await see(), await see(), await see()], [200, 200, 429]);
});

test('a number is genuine however it is typed, and says nothing of the person', async () => {
  const { number } = await member({ firstName: 'Secret', lastName: 'Person', city: 'Austin' });
  const plain = parseMemberNumber(number)!;
  for (const typed of [
    number,
    plain,
    plain.toLowerCase(),
    ` ${plain.replaceAll('0', 'o').replaceAll('1', 'l')} `,
  ]) {
    const answer = await verify(typed);
    assert.deepEqual(Object.keys(answer).toSorted(), ['number', 'programme', 'since', 'society', 'standing']);
    assert.doesNotMatch(JSON.stringify(answer), /Secret|Person|Austin/);
  }
});

test('a membership that ended says so and nothing more; one that is disputed stands', async () => {
  const standings = { refunded: 'ended', charged_back: 'ended', void: 'ended', disputed: 'valid' } as const;
  for (const [standing, told] of Object.entries(standings)) {
    const { uuid, intentId, number } = await member();
    await server.deps.database
      .transaction()
      .execute((trx) => bringStanding(trx, { uuid }, intentId, standing as keyof typeof standings));
    const answer = await verify(number);
    assert.equal(answer.standing, told, standing);
    if (told === 'ended') assert.deepEqual(answer, { standing: 'ended' });
  }
});

test('who was refunded and joins again has a number of their own, and the old one stays no longer valid', async () => {
  const client = server.client();
  const { uuid } = await paidJoin(server, client, 'HONOR102');
  const numberOf = async (of: string) =>
    (await client.call('getWelcome', { params: { uuid: of } })).data.papers!.number;
  const first = await numberOf(uuid);
  await refundJoin(server.deps, uuid, { ...nothing, membership: true });
  const again = await paidJoin(server, client, 'HONOR102');
  const second = await numberOf(again.uuid);
  assert.notEqual(second, first);
  assert.equal((await verify(first)).standing, 'ended');
  assert.equal((await verify(second)).standing, 'valid');
});

test('an entry that is turned off is answered and counted like a number that does not exist', async (t) => {
  const hidden = await member();
  const shown = await member();
  const turn = (isVerifiable: boolean) =>
    hidden.client.call('setVerification', { params: { uuid: hidden.uuid }, body: { isVerifiable } });
  assert.deepEqual((await turn(false)).data, { isVerifiable: false });
  assert.equal((await hidden.papers())!.isVerifiable, false);
  const ask = (number: string) => server.client().call('verifyNumber', { params: { number } });
  const answerOf = async (number: string) => {
    const { status, body } = await ask(number);
    return { status, body };
  };
  assert.deepEqual(await answerOf(hidden.number), await answerOf('0000-0000'));

  limitWith(t, server, { LIMIT_WRONG_NUMBERS_PER_ADDRESS: '3/10' });
  const statuses = [];
  for (const number of [
    shown.number,
    hidden.number,
    shown.number,
    'nonsense',
    '0000-0000',
    shown.number,
    hidden.number,
  ])
    statuses.push((await ask(number)).status);
  assert.deepEqual(
    statuses,
    [200, 200, 200, 200, 200, 429, 429],
    'a right one cannot be told from a wrong one then',
  );

  server.deps.config.limits = null;
  await turn(true);
  assert.equal((await ask(hidden.number)).data.standing, 'valid');
});

test('staff write a certificate to a file, with the spelling that the member asked for', {
  skip: lacks('pdftotext'),
}, async (t) => {
  const path = join(temporaryFolder(t), 'certificate.pdf');
  const { uuid, number } = await member({ firstName: 'محمد', lastName: 'Ali' });
  const run = (...args: string[]) => runCommand(t, server, 'certificate', args);
  const refused = await run(uuid, path);
  assert.equal(refused.code, 1);
  assert.match(refused.out, /The typeface has no م ح د: give the name in Latin/);
  const written = await run(uuid, '--name', 'Mohamed Ali', '--paper', 'a4', path);
  assert.deepEqual(
    [written.code, written.out],
    [0, `${path}: the certificate of Mohamed Ali, number ${number}.\n`],
  );
  const said = textOf(readFileSync(path));
  for (const part of ['Mohamed Ali', number]) assert.ok(said.includes(part), said);
  for (const args of [[], [uuid], ['nobody', path], [uuid, path, 'more'], [uuid, path, '--paper', 'a3']])
    assert.equal((await run(...args)).code, 2, args.join(' '));
});

/** Retires the first programme of the society file and makes it the second, or removes the programme and its products. */
function giveUpFirst(t: TestContext, how: 'retired' | 'removed'): void {
  changeSociety(t, server, (source) => {
    const file = parse(source);
    const { 'high-school': first, ...others } = file.programmes;
    const kept = how === 'retired' ? { 'high-school': { ...first, retired: true } } : {};
    file.programmes = { ...others, ...kept };
    file.catalogue = file.catalogue.filter(
      ({ programme }: { programme?: string }) => programme === undefined || programme in file.programmes,
    );
    return stringify(file);
  });
}

test('papers and /verify of a member of a retired programme go on naming it', {
  skip: lacks('pdftotext'),
}, async (t) => {
  const { client, uuid, papers, number } = await member();
  giveUpFirst(t, 'retired');
  assert.equal((await papers())!.problem, null);
  assert.match(textOf((await file(client, 'certificate', uuid)).bytes), /Honor Scholars/i);
  const { text } = (await client.call('getPressRelease', { params: { uuid } })).data;
  assert.match(text, /admitted to Honor Scholars, a program of/);
  assert.deepEqual(
    await verify(number).then((answer) => answer.standing === 'valid' && answer.programme),
    'Honor Scholars',
  );
});

test('papers and /verify of a member whose programme the file has no more name no other one', async (t) => {
  const { client, uuid, papers, number } = await member();
  giveUpFirst(t, 'removed');
  const problem =
    'We cannot print your certificate and press release right now. Please write to help@society.example.';
  assert.equal((await papers())!.problem, problem);
  for (const name of ['certificate', 'pressRelease'] as const) {
    const { status, message } = await file(client, name, uuid);
    assert.deepEqual([status, message], [409, problem]);
  }
  const release = await client.call('getPressRelease', { params: { uuid } });
  assert.deepEqual([release.status, release.message], [409, problem]);
  const { standing, programme } = { programme: null, ...(await verify(number)) };
  assert.deepEqual([standing, programme], ['valid', null]);
  const path = join(temporaryFolder(t), 'certificate.pdf');
  const { out, code } = await runCommand(t, server, 'certificate', [uuid, path]);
  assert.deepEqual(
    [code, out],
    [
      1,
      `${server.deps.config.societyFile} has no programme high-school, which this membership is of. Put it back, with \`retired: true\` if nobody is to join it any more.\n`,
    ],
  );
  const hide = { params: { uuid }, body: { isVerifiable: false } };
  assert.equal((await client.call('setVerification', hide)).status, 200);
});

test('staff write no certificate without a name, and replace no file', async (t) => {
  const folder = temporaryFolder(t);
  const path = join(folder, 'certificate.pdf');
  const { uuid } = await member();
  const run = (...args: string[]) => runCommand(t, server, 'certificate', args);
  for (const name of ['', '  ', '\u200b']) {
    const { out, code } = await run(uuid, '--name', name, path);
    assert.equal(code, 2);
    assert.match(out, /^The name is empty\.\nUsage: /);
  }
  assert.deepEqual(readdirSync(folder), []);
  assert.equal((await run(uuid, path)).code, 0);
  const before = readFileSync(path);
  const again = await run(uuid, '--name', 'Somebody Else', path);
  assert.deepEqual([again.code, again.out], [1, `${path} is there already.\n`]);
  assert.deepEqual(readFileSync(path), before);
});

test('staff who want a certificate of somebody erased, or of no join, are told so', async (t) => {
  const path = join(temporaryFolder(t), 'certificate.pdf');
  const { uuid } = await member();
  await server.deps.database.transaction().execute((trx) => eraseJoins(trx, server.deps, [uuid]));
  for (const none of [uuid, '00000000-0000-4000-8000-000000000000']) {
    const { out, code } = await runCommand(t, server, 'certificate', [none, '--name', 'Ali', path]);
    assert.deepEqual([code, out], [1, `There is no join ${none}, or it was erased.\n`]);
  }
});
