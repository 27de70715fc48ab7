import assert from 'node:assert/strict';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { sql } from 'kysely';
import { parse, stringify } from 'yaml';
import { startServerProcess, withSettings } from '../../../../tests/harness/serverProcess.ts';
import { orderingJoin, paidJoin } from '../../../../tests/harness/steps.ts';
import { temporaryFolder } from '../../../../tests/harness/temporaryFolder.ts';
import { sharedServer } from '../../../../tests/harness/testServer.ts';
import { until } from '../../../../tests/harness/until.ts';
import { diagnose } from '../../../staff/doctor.ts';

const server = await sharedServer();

const PROGRAMME =
  "The society's file has no programme high-school, which has 1 paid join, 2 unpaid joins, 2 unused invite codes.";
const PRODUCTS = [
  "The society's file has no product 1 (Membership), which is in 2 orders that were paid or are open.",
  "The society's file has no product 30 (Lapel Pin), which is in 1 order that was paid or is open.",
];

/**
 * Makes a paid join, an ordering join, a join that has just begun, and codes of the joins' programme. Then writes a society file
 * that lacks this programme and an item of the open order. Returns the file's path.
 */
async function sellOtherThings(t: TestContext): Promise<string> {
  await paidJoin(server, server.client());
  const client = server.client();
  const uuid = await orderingJoin(client);
  const productUuid = '0b6f2f0e-58f1-4d38-9a4e-3f5a9f1f0030';
  await client.call('setSessionProduct', { params: { uuid }, body: { productUuid } });
  const invited = server.client();
  await invited.call('checkEligibility', { body: { invitationCode: 'HONOR102' } });
  await sql`insert into invitation (code, person_id, school, programme, expires_at) values
    ('USED102', (select id from person where contact_id = '102'), null, 'high-school', null), ('UNUSED102', (select id from person where contact_id = '102'), null, 'high-school', null),
    ('GONE2026', null, 'A School', 'high-school', null), ('GONE2025', null, 'A School', 'high-school', now())`.execute(
    server.deps.database,
  );
  const used = { contactId: '102', invitationCode: 'USED102', isTOLA: true };
  assert.equal((await invited.call('initiateJoin', { body: used })).status, 200);
  const file = parse(readFileSync(server.deps.config.societyFile, 'utf8'));
  delete file.programmes['high-school'];
  file.catalogue = file.catalogue.filter(
    ({ id, programme }: { id: number; programme?: string }) => id !== 30 && programme !== 'high-school',
  );
  const folder = temporaryFolder(t);
  copyFileSync(join(server.deps.config.societyFile, '../icon.png'), join(folder, 'icon.png'));
  const path = join(folder, 'society.yaml');
  writeFileSync(path, stringify(file));
  return path;
}

test('doctor and the server’s log name what joins, orders and codes refer to and the file has no more', async (t) => {
  const { config } = server.deps;
  const before = await diagnose(config);
  assert.match(before.report, /ok +What was sold: .* has every programme and product of/);
  const societyFile = await sellOtherThings(t);
  const { report, status } = await diagnose({ ...config, societyFile });
  const found = [PROGRAMME, ...PRODUCTS].join(' ');
  assert.ok(
    report.includes(
      `What was sold: ${found} Put them back into ${societyFile}, with \`retired: true\` where nobody is `,
    ),
    report,
  );
  assert.equal(status, 1);
  const started = await startServerProcess(
    withSettings(server, { SOCIETY_FILE: societyFile, LOG_LEVEL: 'warn' }),
  );
  t.after(() => started.kill());
  const told = () => started.log().map(({ msg }) => msg);
  await until(async () => PRODUCTS.every((sentence) => told().includes(sentence)));
  assert.ok(told().includes(PROGRAMME));
});
