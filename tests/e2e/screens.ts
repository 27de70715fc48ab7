import type { Page } from '@playwright/test';
import type { CallName } from '../../packages/contract/calls.ts';
import {
  alter,
  call,
  detailedJoin,
  openIntent,
  orderingJoin,
  paidJoin,
  selfNomination,
  startedJoin,
  verifyPathOfMember,
} from './arrange.ts';
import { joinElsewhere, linkOf, stopPageOf } from './passes.ts';
import { button, heading } from './steps.ts';

/**
 * One of the screens in this file's list: how to reach it, and how to tell that it has loaded its data. Tests that apply to every
 * screen run once for each.
 */
export interface Screen {
  name: string;
  arrange: (page: Page) => Promise<string>;
  /** The call whose answer the screen waits for, with a placeholder meanwhile. */
  waitsFor?: CallName;
  /** The call without whose answer the screen shows a failure and offers to try again; by default `waitsFor`. */
  needs?: CallName;
  /** Whether the layout of the screen on a desktop differs from that on a phone. */
  isWide?: boolean;
  title: string;
  isThere: (page: Page) => ReturnType<typeof button>;
}

const at = (path: string, arrange: (page: Page) => Promise<unknown>) => async (page: Page) => {
  await arrange(page);
  return path;
};

export const screens: Screen[] = [
  {
    name: 'Get Started',
    arrange: async () => '/',
    title: 'Get Started',
    isThere: (page) => heading(page, 'Get Started'),
  },
  {
    name: 'Student Details',
    arrange: at('/registration/student-details', startedJoin),
    isWide: true,
    waitsFor: 'getContact',
    title: 'Student Details',
    isThere: (page) => page.getByLabel('First name'),
  },
  {
    name: 'Membership',
    arrange: at('/registration/membership', detailedJoin),
    isWide: true,
    waitsFor: 'getMembershipDetails',
    title: 'Membership',
    isThere: (page) => button(page, 'Choose this membership: Membership'),
  },
  {
    name: 'Checkout',
    arrange: at('/registration/checkout', orderingJoin),
    isWide: true,
    waitsFor: 'createPaymentIntent',
    title: 'Checkout',
    isThere: (page) => page.getByRole('button', { name: 'Buy Now', disabled: false }),
  },
  {
    name: 'Upgrade Membership',
    arrange: async (page) => (await paidJoin(page)).upgradePath,
    isWide: true,
    waitsFor: 'getUpgradeDetails',
    title: 'Upgrade Membership',
    isThere: (page) => button(page, 'Upgrade Now'),
  },
  {
    name: 'Upload Transcript',
    arrange: at('/registration/upload-transcript', (page) => paidJoin(page, selfNomination)),
    title: 'Upload Transcript',
    isThere: (page) => heading(page, 'Upload Transcript'),
  },
  {
    name: 'Congratulations',
    arrange: at('/registration/congratulations', paidJoin),
    isWide: true,
    needs: 'getWelcome',
    title: 'Congratulations',
    isThere: (page) => page.getByText('you are now a member'),
  },
  {
    name: 'Congratulations, refunded',
    arrange: at('/registration/congratulations', async (page) => {
      await paidJoin(page);
      await alter(page, 'getWelcome', ({ memberships }) =>
        Object.assign(memberships[0], { standing: 'refunded' }),
      );
    }),
    title: 'Membership refunded',
    isThere: (page) => heading(page, 'Membership refunded'),
  },
  {
    name: 'Upload Your Resume',
    arrange: async () => '/upload-resume/101',
    title: 'Upload Your Resume',
    isThere: (page) => heading(page, 'Upload Your Resume'),
  },
  {
    name: 'Checkout by a link',
    arrange: async () => '/initialize/checkout?vid=103&mp=1',
    needs: 'initiateCheckout',
    title: 'Checkout',
    isThere: (page) => page.getByRole('button', { name: 'Buy Now', disabled: false }),
  },
  {
    name: 'a payment that failed',
    arrange: async (page) => {
      const { id, secret } = await openIntent(page, await orderingJoin(page));
      return `/registration/post-payment?payment_intent=${id}&payment_intent_client_secret=${secret}&redirect_status=failed`;
    },
    title: 'Payment',
    isThere: (page) => page.getByRole('link', { name: 'Return to Checkout' }),
  },
  {
    name: 'an invitation by a link',
    arrange: async () => '/registration/102/init',
    needs: 'initJoin',
    title: 'Student Details',
    isThere: (page) => page.getByLabel('First name'),
  },
  {
    name: 'an upgrade without a session',
    arrange: async () => '/registration/initiate/upgrade',
    title: 'Upgrade Membership',
    isThere: (page) => heading(page, 'Upgrade Membership'),
  },
  {
    name: 'a link that opens a join',
    arrange: async (page) => linkOf(await joinElsewhere(page)),
    needs: 'openPass',
    title: 'Your registration',
    isThere: (page) => button(page, 'Email me a code'),
  },
  {
    name: 'Send me my link',
    arrange: async () => '/pass',
    title: 'Your registration',
    isThere: (page) => button(page, 'Send me my link'),
  },
  {
    name: 'an order that somebody else pays',
    arrange: async (page) => (await call(page, 'createPayLink', { uuid: await orderingJoin(page) }, {})).path,
    isWide: true,
    waitsFor: 'getPayPage',
    title: 'Pay for a Membership',
    isThere: (page) => button(page, 'Pay $65.00'),
  },
  {
    name: 'whether an invitation is real',
    arrange: async () => '/check',
    title: 'Is this real?',
    isThere: (page) => button(page, 'Check'),
  },
  {
    name: 'a membership that is verified',
    arrange: verifyPathOfMember,
    waitsFor: 'verifyNumber',
    title: 'Verify a Membership',
    isThere: (page) => page.getByRole('heading', { name: 'This membership is genuine' }),
  },
  {
    name: 'a number that is not known',
    arrange: async () => '/verify/0000-0000',
    title: 'Verify a Membership',
    isThere: (page) => page.getByRole('heading', { name: 'We have no record of such a membership' }),
  },
  {
    name: 'reminders that can be stopped',
    arrange: () => stopPageOf('screens@example.com'),
    waitsFor: 'getReminders',
    title: 'Reminders',
    isThere: (page) => button(page, 'Stop reminders'),
  },
  {
    name: 'Page not found',
    arrange: at('/no/such/page', startedJoin),
    title: 'Page not found',
    isThere: (page) => heading(page, 'Page not found'),
  },
];
