import { sampleMails } from '../../harness/sampleLetters.ts';
import { shoot, test } from './shoot.ts';

/**
 * The widths at which letters are shown (px): the width of a phone, and the width next to the list of letters in a mail client on
 * a desktop.
 */
const WIDTHS = [360, 700];

for (const { kind, mail } of sampleMails())
  test(`the letter ${kind}`, async ({ page }) => {
    const [{ cid, bytes }] = mail.pictures as [(typeof mail.pictures)[0]];
    const crest = `data:image/png;base64,${bytes.toString('base64')}`;
    const screen = '12 Letters';
    await page.setContent(mail.html.replace(`cid:${cid}`, crest));
    await shoot(page, screen, kind, WIDTHS);
    await page.emulateMedia({ colorScheme: 'dark' });
    await shoot(page, screen, `${kind}, dark`, WIDTHS);
    await page.emulateMedia({ colorScheme: 'light' });
    await page.setContent(mail.html.replace(/<img [^>]*>/, ''));
    await shoot(page, screen, `${kind}, without pictures`, [360]);
    await page.setContent('<pre style="margin:16px;white-space:pre-wrap;font:14px/1.4 monospace"></pre>');
    await page.locator('pre').evaluate((pre, text) => {
      pre.textContent = text;
    }, `Subject: ${mail.subject}\n\n${mail.text}`);
    await shoot(page, screen, `${kind}, text alone`, [700]);
  });
