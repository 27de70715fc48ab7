import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from '@playwright/test';
import { RESUME_UPLOADED } from '#core/sentences.ts';
import { pdf } from '../harness/documents.ts';
import { orderingJoin, paidJoin, selfNomination } from './arrange.ts';
import { test as base, expect, theInduct } from './fixtures.ts';
import { button } from './steps.ts';

/** A reverse proxy in front of the server, such as a society runs. */
interface Proxy {
  url: string;
  /** Called with each request. Returns true if the proxy has answered the request itself, so that it is not forwarded. */
  answers: (incoming: IncomingMessage, outgoing: ServerResponse) => boolean;
}

const test = base.extend<{ between: Proxy }>({
  between: async ({ context }, use) => {
    const between: Proxy = { url: '', answers: () => false };
    const server = createServer((incoming, outgoing) => {
      if (between.answers(incoming, outgoing)) return;
      const { method, url, headers } = incoming;
      const onward = request(theInduct().server.url + url, { method, headers }, (answer) => {
        outgoing.writeHead(answer.statusCode!, answer.headers);
        answer.pipe(outgoing);
      });
      onward.on('error', () => outgoing.destroy());
      incoming.pipe(onward);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    between.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    await use(between);
    // Closes pages before the proxy: a page that is still loading would report a failed request.
    for (const page of context.pages()) await page.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  },
});

const NGINX_LIMIT = 1_048_576;
/** Answers as nginx does: with an HTML page, without waiting for the end of the request's body. */
function page(status: number, outgoing: ServerResponse): true {
  outgoing.writeHead(status, { 'content-type': 'text/html', connection: 'close' });
  outgoing.end(`<html><head><title>${status}</title></head><body><hr>nginx</body></html>`);
  outgoing.req.resume();
  return true;
}
const isTooLarge = ({ headers }: IncomingMessage) => Number(headers['content-length']) > NGINX_LIMIT;

const large = { name: 'scan.pdf', mimeType: 'application/pdf', buffer: pdf({ size: 3_000_000 }) };
const small = { name: 'scan.pdf', mimeType: 'application/pdf', buffer: pdf() };
const alert = (page: Page) => page.getByRole('alert');

test('an upload that the proxy will not take, or whose connection is cut in the middle, is told with its size and what to do', async ({
  page: tab,
  between,
  complaints,
}) => {
  complaints.expectFailedRequests();
  await paidJoin(tab, selfNomination);
  for (const [what, path, uploaded] of [
    ['resume', '/upload-resume/101', RESUME_UPLOADED],
    ['transcript', '/registration/upload-transcript', 'scan.pdf was uploaded.'],
  ] as const)
    await test.step(what, async () => {
      between.answers = (incoming, outgoing) => isTooLarge(incoming) && page(413, outgoing);
      await tab.goto(between.url + path);
      await tab.getByLabel(`Choose your ${what}`).setInputFiles(large);
      await expect(alert(tab)).toContainText(
        'Failed to upload file. It has 2.9 MB, which is more than our server takes. Please send a smaller one, such as a photo of lower resolution or fewer pages at once, or email it to us.',
      );
      await tab.getByLabel(`Choose your ${what}`).setInputFiles(small);
      await expect(tab.getByText(uploaded)).toBeAttached();
      await expect(alert(tab)).toHaveCount(0);
    });
  between.answers = (incoming) => {
    if (!isTooLarge(incoming)) return false;
    let bytes = 0;
    incoming.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > NGINX_LIMIT) incoming.socket.destroy();
    });
    return true;
  };
  await tab.getByLabel('Choose your transcript').setInputFiles(large);
  await expect(alert(tab)).toContainText(
    'Failed to upload file. The connection was cut while it was being sent. Please try again. If that happens again, its 2.9 MB may be too much: send a smaller one, or email it to us.',
  );
  await expect(button(tab, 'Try again')).toBeVisible();
});

test('a proxy that answers in the server’s place is a sentence of ours, for a call and for an upload', async ({
  page: tab,
  between,
  complaints,
}) => {
  complaints.expectFailedRequests();
  // The other statuses are in packages/core/sentences.test.ts.
  between.answers = ({ method }, outgoing) => method === 'POST' && page(502, outgoing);
  await tab.goto(between.url);
  await tab.getByLabel('Invite code').fill('LINCOLN2026');
  await button(tab, 'Submit').click();
  await expect(alert(tab)).toContainText('We cannot be reached right now. Please try again in a minute.');
  await tab.goto(`${between.url}/upload-resume/101`);
  await tab.getByLabel('Choose your resume').setInputFiles(small);
  await expect(alert(tab)).toContainText(
    'Failed to upload file. We cannot be reached right now. Please try again in a minute.',
  );
});

test('a network that answers in the server’s place, as one to sign in to does, is said to', async ({
  page: tab,
  between,
}) => {
  await orderingJoin(tab);
  await tab.goto(`${between.url}/registration/checkout`);
  await expect(button(tab, 'Donate $25')).toBeVisible();
  between.answers = ({ method }, outgoing) => method === 'POST' && page(200, outgoing);
  await button(tab, 'Donate $25').click();
  await expect(alert(tab).last()).toContainText(
    'Something else answered instead of our server. Please check that you are online',
  );
});
