import { rmSync, writeFileSync } from 'node:fs';
import type { Page, Route } from '@playwright/test';
import { NOT_A_FILE, othersLeftOut, TRANSCRIPT_NOT_NEEDED } from '../../packages/documents/document.ts';
import { pdf, program } from '../harness/documents.ts';
import { alter, call, paidJoin, refuse, routeOnce, selfNomination, unroute } from './arrange.ts';
import { expect, test } from './fixtures.ts';
import { query } from './passes.ts';
import { button, heading } from './steps.ts';

const UPLOAD = '/registration/upload-transcript';

const file = (name: string, buffer = pdf()) => ({ name, mimeType: 'application/octet-stream', buffer });
const choose = (page: Page) => page.getByLabel('Choose your transcript');
const uploaded = (page: Page) => page.getByRole('region', { name: 'Uploaded files' }).getByRole('listitem');
const goOn = (page: Page) => page.getByRole('link', { name: 'Continue', exact: true });
const alert = (page: Page) => page.getByRole('alert');

/** Opens Upload Transcript for a join that was just paid. */
async function openUpload(page: Page): Promise<string> {
  const { uuid } = await paidJoin(page, selfNomination);
  await page.goto(UPLOAD);
  await expect(heading(page, 'Upload Transcript')).toBeVisible();
  return uuid;
}

/** Dispatches the events of dragging files onto the page and dropping them there. */
async function drop(
  page: Page,
  files: { name: string; buffer: Buffer }[],
  { zone = page.getByText('Drop your transcript here'), text = '' } = {},
): Promise<void> {
  const data = await page.evaluateHandle(
    ({ given, text }) => {
      const transfer = new DataTransfer();
      for (const { name, bytes } of given) transfer.items.add(new File([new Uint8Array(bytes)], name));
      if (text !== '') transfer.setData('text/uri-list', text);
      return transfer;
    },
    { given: files.map(({ name, buffer }) => ({ name, bytes: [...buffer] })), text },
  );
  for (const type of ['dragenter', 'dragover', 'drop'])
    await zone.dispatchEvent(type, { dataTransfer: data });
}

test('of two files dropped at once only the first is sent, which is said, also by the thanks for a resume; a link of another page is said to be no file', async ({
  page,
}) => {
  await openUpload(page);
  const sent: string[] = [];
  page.on('request', (request) => {
    if (request.url().endsWith('/upload-transcript')) sent.push(request.method());
  });
  await drop(page, [file('first.pdf'), file('second.pdf')]);
  await expect(uploaded(page)).toHaveCount(1);
  await expect(uploaded(page)).toContainText('first.pdf');
  expect(sent).toEqual(['POST']);
  const note = page.getByRole('status').filter({ hasText: othersLeftOut('first.pdf') });
  await expect(note).toBeVisible();
  await page.reload();
  await expect(uploaded(page)).toHaveCount(1);
  await drop(page, [], { text: 'https://example.com/transcript.png' });
  await expect(alert(page)).toContainText(NOT_A_FILE);
  await expect(button(page, 'Try again')).toHaveCount(0);
  await drop(page, [file('second.pdf')]);
  await expect(uploaded(page)).toHaveCount(2);
  await expect(alert(page)).toHaveCount(0);
  await expect(note).toHaveCount(0);

  await page.goto('/upload-resume/101');
  const zone = page.getByText('Drop your resume here');
  await drop(page, [file('first.pdf'), file('second.pdf')], { zone });
  await expect(heading(page, 'Resume Uploaded Successfully!')).toBeVisible();
  await expect(page.getByText(othersLeftOut('first.pdf'))).toBeVisible();
});

test('a transcript is chosen with a button; a slow one shows real progress and can be cancelled; it is listed with its size, still there after a reload, and leads on @phone-only', async ({
  page,
}) => {
  const uuid = await openUpload(page);
  await expect(goOn(page)).toBeHidden();
  const offered = (await choose(page).getAttribute('accept'))!.split(',');
  for (const known of ['image/jpeg', '.jfif', '.jpe', 'application/pdf']) expect(offered).toContain(known);
  const network = await page.context().newCDPSession(page);
  await network.send('Network.enable');
  const speed = (bytesPerSecond: number) =>
    network.send('Network.emulateNetworkConditions', {
      offline: false,
      latency: 20,
      downloadThroughput: bytesPerSecond,
      uploadThroughput: bytesPerSecond,
    });
  await speed(200_000);
  const large = file('photo.pdf', pdf({ size: 1_500_000 }));
  await choose(page).setInputFiles(large);
  const bar = page.getByRole('progressbar', { name: 'photo.pdf' });
  await expect(bar).toBeVisible();
  await expect.poll(async () => Number(await bar.getAttribute('aria-valuenow'))).toBeGreaterThan(0);
  expect(Number(await bar.getAttribute('aria-valuenow'))).toBeLessThan(100);
  await button(page, 'Cancel').click();
  await expect(bar).toBeHidden();
  await expect(alert(page)).toHaveCount(0);
  await expect(uploaded(page)).toHaveCount(0);
  expect((await call(page, 'getDocuments', { uuid })).documents).toEqual([]);
  await speed(-1);
  const chooser = page.waitForEvent('filechooser');
  await button(page, 'Choose a file').click();
  await (await chooser).setFiles(file('transcript.pdf', pdf({ size: 12_645 })));
  await expect(uploaded(page)).toHaveText(/transcript\.pdf\s*12\.35 KB/);
  await page.reload();
  await expect(uploaded(page)).toHaveText(/transcript\.pdf\s*12\.35 KB/);
  await goOn(page).click();
  await expect(page).toHaveURL('/registration/congratulations');
});

test('what is sent and not yet answered is said to be checked, and cannot be cancelled any more: it is stored; what is dropped meanwhile is not, which is said', async ({
  page,
}) => {
  await openUpload(page);
  // Holds back the server's answer instead of the request, because the browser reports progress only for bytes that it has really
  // sent.
  const network = await page.context().newCDPSession(page);
  await network.send('Fetch.enable', {
    patterns: [{ urlPattern: '*/upload-transcript', resourceType: 'XHR', requestStage: 'Response' }],
  });
  await choose(page).setInputFiles(file('transcript.pdf'));
  await expect(page.getByText('100%, now it is being checked…')).toBeVisible();
  await expect(button(page, 'Cancel')).toHaveCount(0);
  await drop(page, [file('second.pdf')], { zone: page.getByText('100%, now it is being checked…') });
  await expect(page.getByText(othersLeftOut('transcript.pdf'))).toBeVisible();
  await network.send('Fetch.disable');
  await expect(uploaded(page)).toHaveCount(1);
  await expect(page.getByRole('status').filter({ hasText: 'transcript.pdf was uploaded.' })).toBeAttached();
});

test('an upload that fails says so inline, keeps the file, and Try again sends it; one that is gone since is to be chosen again', async ({
  page,
  complaints,
}, info) => {
  complaints.expectFailedRequests();
  await openUpload(page);
  const toast = (title: string, text: string) =>
    page.getByRole('dialog', { name: title, exact: true }).filter({ hasText: text });
  await refuse(page, 'uploadTranscript', 500, 'The server says why not.');
  await choose(page).setInputFiles(file('transcript.pdf'));
  await expect(alert(page)).toContainText('The server says why not.');
  await expect(alert(page)).toContainText('transcript.pdf');
  await expect(toast('Error', 'The server says why not.')).toBeVisible();
  await unroute(page);
  for (const answer of [
    (one: Route) => one.fulfill({ json: { success: false } }),
    (one: Route) => one.abort('connectionreset'),
  ]) {
    await routeOnce(page, '**/upload-transcript', answer);
    await button(page, 'Try again').click();
    await expect(alert(page)).toContainText('Failed to upload file.');
  }
  await expect(toast('Request Error', 'Failed to send request.')).toBeVisible();
  await button(page, 'Try again').click();
  await expect(uploaded(page)).toContainText('transcript.pdf');
  await expect(alert(page)).toHaveCount(0);

  await routeOnce(page, '**/upload-transcript', (route) => route.abort());
  const photo = info.outputPath('photo.pdf');
  writeFileSync(photo, pdf());
  await choose(page).setInputFiles(photo);
  await expect(alert(page)).toContainText('Failed to upload file.');
  rmSync(photo);
  await button(page, 'Try again').click();
  await expect(alert(page)).toContainText('This file can no longer be read. Please choose it again.');
  await expect(button(page, 'Try again')).toHaveCount(0);
  writeFileSync(photo, pdf());
  const chooser = page.waitForEvent('filechooser');
  await button(page, 'Choose a file').click();
  await (await chooser).setFiles(photo);
  await expect(uploaded(page)).toHaveCount(2);
});

const refused: [string, ReturnType<typeof file>, string][] = [
  [
    'another type',
    file('notes.txt', Buffer.from('x')),
    'This type of file is not accepted. Please choose a PDF, JPEG, PNG or Word (.doc, .docx) file.',
  ],
  ['nothing', file('empty.pdf', Buffer.alloc(0)), 'empty'],
  ['a program named as a PDF', file('transcript.pdf', program()), 'is a program'],
  [
    'more than the server takes',
    file('large.pdf', pdf({ size: 1_000_001 })),
    'This file is too large. The limit is 976 KB.',
  ],
];
const refusedByServer: typeof refused = [
  ['half a PDF', file('half.pdf', pdf().subarray(0, 300)), 'damaged or incomplete'],
];
test('what cannot be taken is said, before anything is sent if its beginning shows it', async ({
  page,
  complaints,
}) => {
  complaints.expectFailedRequests();
  await page.route(`**${UPLOAD}`, async (route) => {
    const response = await route.fetch();
    const body = (await response.text()).replace('"uploadMaxBytes":null', '"uploadMaxBytes":1000000');
    await route.fulfill({ response, body });
  });
  await openUpload(page);
  const sent: string[] = [];
  page.on('request', (request) => request.method() === 'POST' && sent.push(request.url()));
  for (const [what, hostile, sentence] of [...refused, ...refusedByServer])
    await test.step(what, async () => {
      await choose(page).setInputFiles(hostile);
      await expect(alert(page)).toContainText(sentence);
      await expect(alert(page)).toContainText(hostile.name);
      // There is no "Try again", since the same file would be refused again.
      await expect(button(page, 'Try again')).toBeHidden();
    });
  expect(sent.length).toBe(refusedByServer.length);
  await choose(page).setInputFiles(file('fits.pdf', pdf({ size: 900_000 })));
  await expect(uploaded(page)).toHaveCount(1);
});

test('a rejection is told on the upload and the welcome page, and the next upload takes it away; whose membership has ended is asked for none', async ({
  page,
}) => {
  const uuid = await openUpload(page);
  await choose(page).setInputFiles(file('blurred.pdf'));
  await expect(uploaded(page)).toHaveCount(1);
  await query(
    `update document set review = 'rejected', reason = 'unreadable', reviewed_at = now() where session_uuid = $1`,
    [uuid],
  );
  const sentence = 'We could not read your transcript. Please upload a sharper photo, or a PDF.';
  await page.goto('/registration/congratulations');
  await expect(page.getByText(sentence)).toBeVisible();
  await page.getByRole('link', { name: 'upload your transcript' }).click();
  await expect(alert(page)).toHaveText(sentence);
  await expect(uploaded(page)).toHaveCount(0);
  await choose(page).setInputFiles(file('sharp.pdf'));
  await expect(uploaded(page)).toContainText('sharp.pdf');
  await expect(alert(page)).toHaveCount(0);

  await alter(page, 'getDocuments', (data) => Object.assign(data, { hasEnded: true }));
  await page.reload();
  await expect(alert(page).filter({ hasText: TRANSCRIPT_NOT_NEEDED })).toBeVisible();
  await expect(choose(page)).toHaveCount(0);
  await expect(button(page, 'Show the code')).toHaveCount(0);
  await expect(page.getByText(/One last step|have it with you/)).toHaveCount(0);
});
