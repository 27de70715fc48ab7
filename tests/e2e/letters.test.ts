import { simpleParser } from 'mailparser';
import type { KeptLetter } from '../../emulators/mail/server.ts';
import { control } from '../harness/providers.ts';
import { sampleMails, sampleWriting } from '../harness/sampleLetters.ts';
import { paidJoin } from './arrange.ts';
import { expect, test, theInduct } from './fixtures.ts';

test('the receipt of a join is in the mailbox, and every link in it works', async ({
  page,
  request,
  complaints,
}) => {
  // The mailbox shows letters in a frame without scripts. The browser blocks Playwright's scripts there, and logs errors.
  complaints.expect(/^Blocked script execution in .*sandboxed/, /The document is sandboxed/);
  const { intent } = await paidJoin(page);
  // Opening a page stores this join's session in the browser.
  await page.goto('/');
  const { mail } = theInduct();
  const receipt = async () => {
    for (const { id, raw } of await control<KeptLetter[]>(new URL(mail.url).origin, 'GET', 'letters'))
      if ((await simpleParser(raw)).text?.includes(`Reference: ${intent}`)) return id;
    return null;
  };
  await expect.poll(receipt).not.toBeNull();
  await page.goto(mail.url);
  await page.locator(`a[href$="/mail/${await receipt()}"]`).click();
  await expect(page.getByRole('heading', { name: 'Your membership is confirmed', level: 1 })).toBeVisible();
  await expect(page.locator('pre')).toContainText('Total paid');
  const letter = page.frameLocator('iframe');
  await expect(letter.getByRole('heading', { name: 'Your membership is confirmed' })).toBeVisible();
  await expect(letter.getByText('$65.00').first()).toBeVisible();
  const source = await page.locator('iframe').getAttribute('src');
  const html = await (await request.get(new URL(source!, mail.url).href)).text();
  const pages = [...html.matchAll(/href="(http[^"]*)"/g)].map(([, link]) => link!);
  expect(pages.length).toBeGreaterThan(0);
  for (const link of pages) expect((await request.get(link)).status(), link).toBe(200);
  const [opened] = await Promise.all([
    page.waitForEvent('popup'),
    letter.getByRole('link', { name: 'Open your welcome page' }).click(),
  ]);
  await expect(opened.getByRole('heading', { name: 'Congratulations' })).toBeVisible();
});

test('every link to our pages, in every letter, works, and the server leads to the mailbox of its stand-in', async ({
  request,
}) => {
  const { server, mail: mailbox } = theInduct();
  const answer = await request.get(`${server.url}/emulated/mail`, { maxRedirects: 0 });
  expect([answer.status(), answer.headers().location]).toEqual([302, mailbox.url]);
  const links = new Set<string>();
  for (const { mail } of sampleMails(sampleWriting(server.url))) {
    const own = [...`${mail.html} ${mail.text}`.matchAll(/https?:\/\/[^\s"<]+/g)].map(([link]) => link);
    for (const link of own.filter((one) => one.startsWith(server.url))) links.add(link);
  }
  expect(links.size).toBeGreaterThan(2);
  for (const link of links) expect((await request.get(link)).status(), link).toBe(200);
});
