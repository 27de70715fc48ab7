import { rmSync } from 'node:fs';
import { freePort } from '../../tools/local/ports.ts';
import { type NpmStart, npmStart, npmStartApart } from '../harness/npmStart.ts';
import { onlyLong } from '../harness/testLength.ts';
import { unroute } from './arrange.ts';
import { expect, test } from './fixtures.ts';
import { stripe } from './providers.ts';
import {
  button,
  buyNow,
  chooseMembership,
  fillDetails,
  heading,
  paidIntent,
  save,
  selfNominate,
  total,
  typeCard,
} from './steps.ts';

// Only in `npm run test:long`, because killing whole programs takes a minute. Every run of the fault suite kills servers at named
// points.
test.skip(!!onlyLong, 'npm run test:long runs it');

// Uses a separate `npm start`, which the test may kill.
// biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names of what a fixture needs
test.use({ baseURL: async ({}, use) => use(`http://127.0.0.1:${await freePort()}`) });

test('npm start killed at checkout, and again after the card was charged: the join goes on and is paid once', async ({
  page,
  baseURL,
  complaints,
}) => {
  complaints.expect(/^Failed to load resource/, /could not be sent/);
  const first = await npmStartApart({ PORT: new URL(baseURL!).port });
  let induct: NpmStart = first;
  const killAll = () => {
    for (const victim of ['npm', 'bootstrap', 'start'] as const) process.kill(induct.pids[victim], 'SIGKILL');
    return induct.ended;
  };
  try {
    await selfNominate(page);
    await fillDetails(page);
    await save(page);
    await chooseMembership(page);
    await button(page, 'Donate $25').click();
    await expect(total(page)).toHaveText('$90.00');
    await typeCard(page);

    await killAll();
    induct = await npmStart(first.settings);
    await page.reload();
    await expect(total(page)).toHaveText('$90.00');

    // The card is charged. All processes are killed before the return page reaches the server.
    await page.route('**/post-payment-handler', (route) => route.abort('connectionrefused'));
    await typeCard(page);
    await buyNow(page);
    await expect(page.getByRole('link', { name: 'Return to Checkout' })).toBeVisible();
    await killAll();
    induct = await npmStart(first.settings);
    await unroute(page, '**/post-payment-handler');
    await page.reload();
    const intent = await paidIntent(page);
    await button(page, 'Skip').click();
    await expect(heading(page, 'Upload Transcript')).toBeVisible();
    expect(await stripe(induct.local.stripe!).taken(intent)).toEqual([9000]);
  } finally {
    await induct.pressCtrlC();
    rmSync(first.folder, { recursive: true, force: true });
  }
});
