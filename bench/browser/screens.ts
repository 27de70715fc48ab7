import type { Page } from '@playwright/test';
import { detailedJoin, orderingJoin, paidJoin, selfNomination, startedJoin } from '../../e2e/arrange.ts';

/** A screen as somebody opens it for the first time on this device. */
export interface Screen {
  name: string;
  /** Brings the join to where the screen is shown; the path to open. */
  arrange(page: Page): Promise<string>;
  /** There when nothing more is to come. */
  complete: string;
}

/** All of them. `contactId` is somebody whom the CRM knows. */
export function screensFor(contactId: string): Screen[] {
  const at = (path: string, arrange: (page: Page) => Promise<unknown>) => async (page: Page) => {
    await arrange(page);
    return path;
  };
  return [
    {
      name: 'Get Started',
      arrange: async () => '/registration/get-started',
      complete: 'input[name="inviteCode"]',
    },
    {
      name: 'Student Details',
      arrange: at('/registration/student-details', startedJoin),
      complete: 'input[name="firstName"]',
    },
    {
      name: 'Membership',
      arrange: at('/registration/membership', detailedJoin),
      complete: 'button[aria-label^="Choose this membership"]',
    },
    {
      name: 'Checkout',
      arrange: at('/registration/checkout', orderingJoin),
      complete: 'button:has-text("Buy Now"):visible',
    },
    {
      name: 'Upgrade',
      arrange: async (page) => (await paidJoin(page)).upgradePath,
      complete: 'button:has-text("Upgrade Now")',
    },
    {
      name: 'Upload Transcript',
      arrange: at('/registration/upload-transcript', (page) => paidJoin(page, selfNomination)),
      complete: 'input[type="file"]',
    },
    {
      name: 'Congratulations',
      arrange: at('/registration/congratulations', paidJoin),
      complete: 'a:has-text("Shop Now")',
    },
    {
      name: 'A link to a contact',
      arrange: async () => `/registration/${contactId}/init`,
      complete: 'input[name="firstName"]',
    },
    {
      name: 'A link to a checkout',
      arrange: async () => `/initialize/checkout?vid=${contactId}`,
      complete: 'button:has-text("Buy Now"):visible',
    },
    {
      name: 'Upload Your Resume',
      arrange: async () => `/upload-resume/${contactId}`,
      complete: 'input[type="file"]',
    },
  ];
}
