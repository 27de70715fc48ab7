import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { parse, stringify } from 'yaml';
import { startServerProcess, withSettings } from '../../../tests/harness/serverProcess.ts';
import { orderingJoin, paidJoin } from '../../../tests/harness/steps.ts';
import { temporaryFolder } from '../../../tests/harness/temporaryFolder.ts';
import { sharedServer } from '../../../tests/harness/testServer.ts';
import { until } from '../../../tests/harness/until.ts';
import { diagnose } from './doctorCommand.ts';

const server = await sharedServer();

const PROGRAMME =
  "The society's file has no programme high-school, which has 2 joins that were paid or are open.";
const PRODUCTS = [
  "The society's file has no product 1 (Membership), which is in 2 orders that were paid or are open.",
  "The society's file has no product 30 (Lapel Pin), which is in 1 order that was paid or is open.",
];

/**
 * Makes a paid join and an open join. Then writes a society file that lacks their programme and an item of the open order, and
 * returns the file's path.
 */
async function sellOtherThings(t: TestContext): Promise<string> {
  await paidJoin(server, server.client());
  const client = server.client();
  const uuid = await orderingJoin(client);
  const productUuid = '0b6f2f0e-58f1-4d38-9a4e-3f5a9f1f0030';
  await client.call('setSessionProduct', { params: { uuid }, body: { productUuid } });
  const file = parse(readFileSync(server.deps.config.societyFile, 'utf8'));
  delete file.programmes['high-school'];
  file.catalogue = file.catalogue.filter(
    ({ id, programme }: { id: number; programme?: string }) => id !== 30 && programme !== 'high-school',
  );
  const path = join(temporaryFolder(t), 'society.yaml');
  writeFileSync(path, stringify(file));
  return path;
}

test('doctor and the server’s log name what paid and open orders refer to and the file has no more', async (t) => {
  const { config } = server.deps;
  const before = await diagnose(config);
  assert.match(before.report, /ok +What was sold: .* has every programme and product/);
  const societyFile = await sellOtherThings(t);
  const { report, status } = await diagnose({ ...config, societyFile });
  const found = [PROGRAMME, ...PRODUCTS].join(' ');
  assert.ok(
    report.includes(
      `What was sold: ${found} Put them back into ${societyFile}, a product with \`retired: true\` `,
    ),
    report,
  );
  assert.equal(status, 1);
  const started = await startServerProcess(
    withSettings(server, { SOCIETY_FILE: societyFile, LOG_LEVEL: 'warn' }),
  );
  t.after(() => started.kill());
  const told = () => started.log().map(({ msg }) => msg);
  await until(async () => PRODUCTS.every((sentence) => told().includes(sentence)), 10_000);
  assert.ok(told().includes(PROGRAMME));
});
