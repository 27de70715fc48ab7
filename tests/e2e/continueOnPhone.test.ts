import { devices, type Page } from '@playwright/test';
import jsQR from 'jsqr';
import { pathOf } from '#contract/calls.ts';
import { jpeg, pdf } from '../harness/documents.ts';
import { hold, paidJoin, route, routeOnce, selfNomination } from './arrange.ts';
import { expect, expectAccessible, expectNoSidewaysScroll, test, theInduct } from './fixtures.ts';
import { button, heading } from './steps.ts';

const UPLOAD = '/registration/upload-transcript';
const phone = {
  ...devices['Desktop Chrome'],
  viewport: { width: 390, height: 844 },
  hasTouch: true,
  isMobile: true,
};

const qr = (page: Page) => page.getByRole('img', { name: 'QR code of the address beside it' });
const uploaded = (page: Page) => page.getByRole('region', { name: 'Uploaded files' }).getByRole('listitem');
const choose = (page: Page) => page.getByLabel('Choose your transcript');
const photo = { name: 'IMG_0042.jpg', mimeType: 'image/jpeg', buffer: jpeg() };

async function inspect(page: Page): Promise<void> {
  await expectAccessible(page);
  await expectNoSidewaysScroll(page);
}

async function showCode(page: Page): Promise<void> {
  await page.goto(UPLOAD);
  await button(page, 'Show the code').click();
  await expect(qr(page)).toBeVisible();
}

/** Decodes the QR code from a picture of the screen, as a phone's camera does. */
async function scan(page: Page): Promise<string> {
  const screenshot = (await qr(page).screenshot()).toString('base64');
  const { data, width, height } = await page.evaluate(async (base64) => {
    const image = new Image();
    image.src = `data:image/png;base64,${base64}`;
    await image.decode();
    const canvas = document.createElement('canvas');
    canvas.width = image.width;
    canvas.height = image.height;
    const context = canvas.getContext('2d')!;
    context.drawImage(image, 0, 0);
    const { data, width, height } = context.getImageData(0, 0, image.width, image.height);
    return { data: [...data], width, height };
  }, screenshot);
  return jsQR.default(new Uint8ClampedArray(data), width, height)?.data ?? 'nothing that can be read';
}

test('a transcript is photographed with a phone that has read the code, the computer goes on by itself, and axe finds nothing on either', async ({
  page,
  browser,
  complaints,
}) => {
  await paidJoin(page, selfNomination);
  await showCode(page);
  const address = await scan(page);
  expect(address).toMatch(new RegExp(`^${theInduct().server.url}/upload/[\\w-]{22}$`));
  await expect(page.getByRole('link', { name: address })).toBeVisible();
  await expectAccessible(page);

  const pocket = await browser.newContext({
    ...phone,
    baseURL: theInduct().server.url,
    reducedMotion: 'reduce',
  });
  complaints.watch(pocket);
  const handset = await pocket.newPage();
  await handset.goto(address);
  await expect(heading(handset, 'Upload Transcript')).toBeVisible();
  // Without the attribute `capture`, a phone offers both its camera and its files.
  await expect(choose(handset)).not.toHaveAttribute('capture');
  await expect(choose(handset)).toHaveAttribute('accept', /image\/jpeg/);
  await inspect(handset);
  const go = await hold(handset, 'uploadByLink');
  const name = `${'a-very-long-name-of-a-file-'.repeat(8)}.jpg`;
  await choose(handset).setInputFiles({ ...photo, name });
  await expect(handset.getByRole('progressbar')).toBeVisible();
  await inspect(handset);
  go();
  await expect(handset.getByText('We have it.')).toBeVisible();
  await expect(uploaded(handset)).toContainText('a-very-long-name');
  await inspect(handset);

  await expect(uploaded(page)).toContainText('a-very-long-name');
  await expect(page.getByText(/^a-very-long-name.* arrived from your phone\.$/)).toBeVisible();
  await expect(qr(page)).toBeHidden();
  // The link opens only the upload page: the phone has no session for the join's other screens.
  expect(await handset.evaluate(() => localStorage.length)).toBe(0);
  await handset.goto('/registration/congratulations');
  await expect(handset).toHaveURL('/registration/get-started');
  await pocket.close();
  await page.getByRole('link', { name: 'Continue', exact: true }).click();
  await expect(page).toHaveURL('/registration/congratulations');
});

test('a file of this computer is listed once, although a poll has seen it before its own answer came', async ({
  page,
}) => {
  await page.clock.install();
  await paidJoin(page, selfNomination);
  await showCode(page);
  let answer = () => {};
  const answered = new Promise<void>((done) => {
    answer = done;
  });
  await page.route(route('uploadTranscript'), async (request) => {
    const response = await request.fetch();
    await answered;
    await request.fulfill({ response });
  });
  const stored = page.waitForRequest(route('uploadTranscript'));
  await choose(page).setInputFiles({ name: 'mine.pdf', mimeType: 'application/pdf', buffer: pdf() });
  await stored;
  const seen = async () => {
    const polled = page.waitForResponse(route('getDocuments'));
    await page.clock.runFor(3_500);
    return (await (await polled).json()).data.documents.length;
  };
  await expect.poll(seen).toBe(1);
  await expect(page.getByText('arrived from your phone')).toHaveCount(0);
  answer();
  await expect(uploaded(page)).toHaveText(/mine\.pdf/);
  await seen();
  await expect(uploaded(page)).toHaveCount(1);
  await expect(qr(page)).toBeVisible();
});

test('a computer whose clock is hours ahead looks for the photo only while the code is shown and the page is seen, and one that slept lists what came meanwhile', async ({
  page,
}) => {
  await page.clock.install({ time: Date.now() + 3 * 3_600_000 });
  const { uuid } = await paidJoin(page, selfNomination);
  let looks = 0;
  await page.goto(UPLOAD);
  await expect(button(page, 'Show the code')).toBeVisible();
  page.on('request', (request) => {
    if (request.url().endsWith(`${uuid}/documents`)) looks += 1;
  });
  await page.clock.runFor(20_000);
  expect(looks).toBe(0);
  await button(page, 'Show the code').click();
  await expect(qr(page)).toBeVisible();
  const look = async () => {
    const looked = page.waitForResponse((response) => response.url().endsWith(`${uuid}/documents`));
    await page.clock.runFor(3_500);
    await (await looked).finished();
  };
  await look();
  expect(looks).toBe(1);
  await expect(qr(page)).toBeVisible();
  await page.evaluate(() => {
    Object.defineProperty(document, 'visibilityState', { value: 'hidden', configurable: true });
  });
  await page.clock.runFor(60_000);
  expect(looks).toBe(1);
  await page.evaluate(() => {
    Object.defineProperty(document, 'visibilityState', { value: 'visible', configurable: true });
  });
  await page.clock.fastForward(3_700_000);
  await expect(page.getByRole('alert')).toHaveText('The code has expired. You can show a new one.');
  await expect(qr(page)).toBeHidden();
  const after = looks;
  await page.clock.runFor(20_000);
  expect(looks).toBe(after);

  await button(page, 'Show the code').click();
  await expect(qr(page)).toBeVisible();
  await look();
  await page.context().request.post(`${theInduct().server.url}${pathOf('uploadTranscript', { uuid })}`, {
    multipart: { file: photo },
  });
  await page.clock.fastForward(3_700_000);
  await expect(uploaded(page)).toContainText('IMG_0042.jpg');
  await expect(page.getByRole('alert')).toHaveCount(0);
});

test('a code that is over says so on the phone, and how to go on; a phone that joins is offered none @phone-only', async ({
  page,
  complaints,
}) => {
  complaints.expectFailedRequests();
  await page.goto('/upload/AAAAAAAAAAAAAAAAAAAAAA');
  await expect(page.getByRole('alert')).toHaveText(
    'This code has expired, or is not complete. Please make a new one on your computer and scan that.',
  );
  await expect(page.locator('input[type=file]')).toHaveCount(0);
  await expectAccessible(page);

  await paidJoin(page, selfNomination);
  await page.goto(UPLOAD);
  await expect(button(page, 'Choose a file')).toBeVisible();
  await expect(button(page, 'Show the code')).toBeHidden();
  await expect(page.getByText('Drop your transcript here')).toBeHidden();
});

test('a code that cannot be made can be asked for again; its address is copied, or selected when the browser refuses', async ({
  page,
  context,
  complaints,
}) => {
  complaints.expectFailedRequests();
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await paidJoin(page, selfNomination);
  await routeOnce(page, '**/upload-link', (route) => route.abort());
  await page.goto(UPLOAD);
  await button(page, 'Show the code').click();
  await expect(page.getByRole('alert')).toHaveText('We could not create a code. Please try again.');
  await button(page, 'Show the code').click();
  await expect(qr(page)).toBeVisible();
  const scanned = await scan(page);
  await button(page, 'Copy address').click();
  await expect(button(page, 'Copied')).toBeVisible();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(scanned);

  await page.evaluate(() => {
    const writeText = () => Promise.reject(new DOMException('Write permission denied.'));
    Object.defineProperty(navigator, 'clipboard', { value: { writeText } });
  });
  await button(page, /^Cop(y address|ied)$/).click();
  const address = page.getByLabel('Please copy the address by hand: it is selected.');
  await expect(address).toBeFocused();
  await expect(address).toHaveValue(scanned);
  expect(await page.evaluate(() => getSelection()?.toString())).toBe(scanned);
});
