import { join } from 'node:path';
import { type BrowserContext, expect, type Page } from '@playwright/test';
import { npmRun } from '../harness/npmStart.ts';
import { test as base, theInduct } from './fixtures.ts';
import { button, heading } from './steps.ts';

/** Tests at the desk, whose addresses are of its own server. */
export const test = base.extend({
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names of what a fixture needs
  baseURL: async ({}, use) => use(theInduct().desk!.url),
});

/** Makes a link that signs in, by the operator's command. A name that is new becomes an owner. */
export async function deskLink(name: string): Promise<string> {
  const email = `${name.toLowerCase().replaceAll(' ', '.')}@example.com`;
  const settings = { DATA_DIR: join(theInduct().folder, 'data') };
  const command = npmRun('operator', settings, ['desk', 'link', name, email, '--role', 'owner']);
  if ((await command.ended) !== 0) throw new Error(command.output());
  return command.output().trim();
}

/** Signs in by a new link. Each test has its own person of staff. */
export async function enterDesk(page: Page, name: string): Promise<void> {
  await page.goto(await deskLink(name));
  await button(page, 'Sign in').click();
  await expect(heading(page, 'Today')).toBeVisible();
}

/** Gives a page's browser a device that makes and uses passkeys without asking anybody. */
export async function bringAuthenticator(context: BrowserContext, page: Page): Promise<void> {
  const devtools = await context.newCDPSession(page);
  await devtools.send('WebAuthn.enable');
  await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
}
