import { REJECTED_FINALLY, rejectionReasons } from '../../../packages/documents/document.ts';
import { pdf } from '../../harness/documents.ts';
import {
  alter,
  call,
  detailedJoin,
  fillOrder,
  hold,
  openIntent,
  orderingJoin,
  paidJoin,
  refuse,
  route,
  selfNomination,
  startedJoin,
  twoJoins,
  unroute,
  verifyPathOfMember,
} from '../arrange.ts';
import { expect, theInduct } from '../fixtures.ts';
import { joinElsewhere, linkOf, stopPageOf } from '../passes.ts';
import { stripe } from '../providers.ts';
import {
  bankQuestion,
  button,
  buyNow,
  cardForm,
  enterCode,
  fillDetails,
  giveWallet,
  heading,
  openSheet,
  save,
  total,
  typeCard,
} from '../steps.ts';
import { PAPER, shoot, test } from './shoot.ts';

// Takes pictures of every screen in every state. The tests reach each state as a joiner would. For states of waiting and failure,
// they delay or refuse calls.

const CHECKOUT = '/registration/checkout';
const WELCOME = '/registration/congratulations';
const LONG_NAME = 'Maximiliana-Theodora Konstantinopoulou-Featherstonehaugh';
const LONG_SCHOOL =
  'The Right Reverend Bartholomew Featherstonehaugh Memorial Preparatory Academy for Mathematics and the Performing Arts';
const transcript = { name: 'transcript.pdf', mimeType: 'application/pdf', buffer: pdf({ size: 182_400 }) };
const longPdf = {
  ...transcript,
  name: `${'official-transcript-of-the-spring-term-'.repeat(3)}final-version.pdf`,
};

test('get started', async ({ page }) => {
  const screen = '1 Get Started';
  await page.goto('/');
  await expect(heading(page, 'Get Started')).toBeVisible();
  await shoot(page, screen, 'empty');
  await page.getByLabel('Invite code').fill('HONOR-1 !');
  await shoot(page, screen, 'error in the code');
  await page.getByLabel('Invite code').fill('HONOR101');
  await shoot(page, screen, 'filled');
  const release = await hold(page, 'checkEligibility');
  await button(page, 'Submit').click();
  await expect(button(page, 'Submitting...')).toBeVisible();
  await shoot(page, screen, 'busy');
  release();
  await enterCode(page, 'EXPIRED2025');
  await expect(page.getByRole('alert')).toBeVisible();
  await shoot(page, screen, 'code refused');
  await enterCode(page, 'HONOR105');
  await expect(page.getByRole('alert')).toContainText(/already/i);
  await shoot(page, screen, 'already a member');
  await button(page, 'I am Self-Nominating').click();
  await shoot(page, screen, 'self-nomination');
  await page.goto('/registration/get-started?programme=undergraduate');
  await button(page, 'I am Self-Nominating').click();
  await page.getByLabel('Yes, I confirm I meet the eligibility requirements').check();
  await shoot(page, screen, 'self-nomination, undergraduate, confirmed');
  await page.getByText('Questions before you join?').click();
  await expect(page.getByText('Who can I call?')).toBeVisible();
  await shoot(page, screen, 'questions answered');
});

test('get started again', async ({ page }) => {
  const screen = '1 Get Started';
  await orderingJoin(page);
  await page.goto('/');
  await expect(button(page, 'Continue your registration')).toBeVisible();
  await shoot(page, screen, 'a join to continue');
  await button(page, 'Continue your registration').click();
  await button(page, 'Start Over').click();
  await expect(button(page, 'Undo')).toBeVisible();
  await shoot(page, screen, 'started over');
});

test('your join', async ({ page }) => {
  const screen = '2 Links';
  await page.goto('/pass');
  await page.getByLabel('Email').fill('jordan.rivera@example.com');
  await button(page, 'Send me my link').click();
  await expect(page.getByText('its link is on the way')).toBeVisible();
  await shoot(page, screen, 'send me my link');
  await page.goto(await linkOf(await joinElsewhere(page)));
  await expect(button(page, 'Email me a code')).toBeVisible();
  await shoot(page, screen, 'a link on a new device');
  await button(page, 'Email me a code').click();
  await page.getByLabel('Six-digit code').fill('000000');
  await button(page, 'Continue with the code').click();
  await expect(page.getByRole('alert')).toBeVisible();
  await shoot(page, screen, 'a wrong code');
});

test('links', async ({ page }) => {
  const screen = '2 Links';
  const release = await hold(page, 'initJoin');
  await page.goto('/registration/101/init');
  await expect(page.getByText('Opening your invitation…')).toBeVisible();
  await shoot(page, screen, 'invitation, loading');
  release();
  await page.goto('/registration/999999999/init');
  await expect(page.getByRole('alert')).toBeVisible();
  await shoot(page, screen, 'invitation refused');
  await page.goto('/initialize/checkout?vid=101&mp=2&c=100');
  await expect(page.getByRole('alert')).toBeVisible();
  await shoot(page, screen, 'checkout link refused');
  await page.goto('/initialize/checkout');
  await expect(page.getByRole('link', { name: 'Get Started' })).toBeVisible();
  await shoot(page, screen, 'checkout link without a contact');
  await page.goto('/registration/initiate/upgrade');
  await expect(page.getByRole('main').getByRole('link').first()).toBeVisible();
  await shoot(page, screen, 'upgrade link without a session');
});

test('student details', async ({ page }) => {
  const screen = '3 Student Details';
  const path = '/registration/student-details';
  await startedJoin(page);
  const release = await hold(page, 'getContact');
  await page.goto(path);
  await expect(page.getByRole('main').getByRole('status')).toBeVisible();
  await shoot(page, screen, 'loading');
  release();
  await expect(page.getByLabel('First name')).toBeVisible();
  await shoot(page, screen, 'empty');
  await button(page, 'Save').click();
  await expect(page.getByRole('alert', { name: 'There is a problem' })).toBeVisible();
  await shoot(page, screen, 'every error');
  await page.getByLabel('Personal email').fill('jordan@gmial.com');
  await expect(page.getByText('Did you mean')).toBeVisible();
  await shoot(page, screen, 'a mail domain suggested');
  await fillDetails(page, { personalEmail: 'jordan.rivera@example.com' });
  await shoot(page, screen, 'filled');
  const done = await hold(page, 'submitDetails');
  await button(page, 'Save').click();
  await expect(button(page, 'Submitting...')).toBeVisible();
  await shoot(page, screen, 'busy');
  await unroute(page, route('submitDetails'));
  await refuse(page, 'submitDetails', 503);
  done();
  await page.goto(path);
  await page.getByLabel('First name').fill(LONG_NAME);
  await page.getByLabel('Last name').fill(LONG_NAME);
  await page.getByLabel('High school name').fill(LONG_SCHOOL);
  await button(page, 'Save').click();
  await expect(page.locator('form').getByRole('alert')).toBeVisible();
  await shoot(page, screen, 'refused, long names');
});

test('student details of an invitation whose record is complete', async ({ page, invitation }) => {
  await enterCode(page, invitation.code);
  await expect(page.getByLabel('First name')).toHaveValue('Jordan');
  await shoot(page, '3 Student Details', 'invited, record complete');
});

test('membership', async ({ page }) => {
  const screen = '4 Membership';
  const path = '/registration/membership';
  await detailedJoin(page);
  const release = await hold(page, 'getMembershipDetails');
  await page.goto(path);
  await expect(page.getByRole('main').getByRole('status')).toBeVisible();
  await shoot(page, screen, 'loading');
  release();
  await expect(button(page, 'Choose this membership: Membership')).toBeVisible();
  await shoot(page, screen, 'to choose');
  const chosen = await hold(page, 'setMembership');
  await button(page, 'Choose this membership: Membership with Honor Cord').click();
  await expect(button(page, 'Selected: Membership with Honor Cord')).toBeVisible();
  await shoot(page, screen, 'busy');
  chosen();
  await expect(page).toHaveURL(CHECKOUT);
  await page.goto(path);
  await expect(button(page, 'Selected: Membership with Honor Cord')).toBeVisible();
  await shoot(page, screen, 'chosen');
  await refuse(page, 'setMembership', 500);
  await button(page, 'Choose this membership: Membership').click();
  await expect(page.getByText('An error occurred while setting membership.')).toBeVisible();
  await shoot(page, screen, 'refused, with a toast');
});

test('membership of the undergraduates, and not loaded', async ({ page }) => {
  await detailedJoin(page, (one) => selfNomination(one, { isTOLA: false }));
  await page.goto('/registration/membership');
  await expect(button(page, 'Choose this membership: Membership')).toBeVisible();
  await shoot(page, '4 Membership', 'only one');
  await alter(page, 'getMembershipDetails', (data) => {
    const [one] = data.memberships;
    data.memberships = [
      { ...one, id: 1, name: 'Membership' },
      { ...one, id: 2, name: `Lifetime membership of the ${LONG_SCHOOL} chapter`, price: '10000.00' },
      {
        ...one,
        id: 3,
        name: 'Membership with Honor Cord',
        price: '89.50',
        features: one.features.slice(0, 2),
      },
    ];
  });
  await page.goto('/registration/membership');
  await expect(page.getByText('$10,000')).toBeVisible();
  await shoot(page, '4 Membership', 'three, long names, $10,000');
  await refuse(page, 'getMembershipDetails', 502);
  await page.goto('/registration/membership');
  await expect(page.getByRole('main').getByRole('alert')).toBeVisible();
  await shoot(page, '4 Membership', 'not loaded');
});

test('checkout', async ({ page }) => {
  const screen = '5 Checkout';
  await orderingJoin(page);
  const release = await hold(page, 'createPaymentIntent');
  await page.goto(CHECKOUT);
  await expect(page.getByText('Loading your order…')).toBeVisible();
  await shoot(page, screen, 'loading');
  release();
  await expect(cardForm(page).getByLabel('Card number')).toBeVisible();
  await shoot(page, screen, 'membership only');
  await button(page, 'Donate $25').click();
  await button(page, 'Add Lapel Pin').click();
  await expect(button(page, 'Remove Lapel Pin')).toBeAttached();
  await page.setViewportSize({ width: 360, height: 740 });
  await button(page, 'Show order summary').click();
  await shoot(page, screen, 'filled, summary open');
  await button(page, 'Hide order summary').click();
  await page.getByLabel('Custom amount').fill('ten');
  await button(page, 'Also add donation').click();
  await button(page, 'Buy Now').click();
  await expect(cardForm(page).getByText('Your card number is incomplete.')).toBeVisible();
  await shoot(page, screen, 'errors');
  await page.getByLabel('Custom amount').fill('');
  await typeCard(page, '4000000000000002');
  const begun = await hold(page, 'beginPayment');
  await buyNow(page);
  await expect(button(page, 'Processing…')).toBeVisible();
  await shoot(page, screen, 'busy');
  begun();
  await expect(page.getByText('Your card was declined.').first()).toBeVisible();
  await shoot(page, screen, 'card declined');
  await refuse(
    page,
    'beginPayment',
    429,
    'Too many cards were declined. Please wait 10 minutes and try again. Nothing was charged.',
  );
  await typeCard(page);
  await buyNow(page);
  await expect(page.getByText(/Too many cards/).first()).toBeVisible();
  await shoot(page, screen, 'paused by too many declines');
});

test('checkout with a wallet', async ({ page }) => {
  const screen = '5 Checkout';
  await orderingJoin(page);
  await giveWallet(page);
  await page.goto(CHECKOUT);
  await expect(page.getByText('Or pay with a card')).toBeVisible();
  await expect(cardForm(page).getByLabel('Card number')).toBeVisible();
  await shoot(page, screen, 'a wallet');
  const sheet = await openSheet(page);
  await button(sheet, 'Visa ending 0002').click();
  await expect(page.getByText('Your card was declined.').first()).toBeVisible();
  await shoot(page, screen, 'wallet declined');
});

test('a large order', async ({ page }) => {
  await orderingJoin(page);
  await fillOrder(page, `for ${LONG_SCHOOL}`);
  await page.setViewportSize({ width: 360, height: 740 });
  await page.goto(CHECKOUT);
  await button(page, 'Show order summary').click();
  await shoot(page, '5 Checkout', '20 items, long names, $10,000');
});

test('an order that changed in another tab, and one that is changing', async ({ page }) => {
  const screen = '5 Checkout';
  const uuid = await orderingJoin(page);
  await page.goto(CHECKOUT);
  await typeCard(page);
  const added = await hold(page, 'setSessionProduct');
  await button(page, 'Add Lapel Pin').click();
  await button(page, 'Donate $25').click();
  await expect(button(page, 'Add Lapel Pin')).toHaveText('Adding…');
  await shoot(page, screen, 'being changed');
  await unroute(page, route('setSessionProduct'));
  added();
  await expect(total(page)).toHaveText('$102.00');
  const { recommendedProducts } = await call(page, 'getCheckoutDetails', { uuid });
  const stole = recommendedProducts.find(({ name }: { name: string }) => name === 'Honor Stole');
  await call(page, 'setSessionProduct', { uuid }, { productUuid: stole.uuid });
  await buyNow(page);
  await expect(page.getByRole('main').getByText(/order has changed/i)).toBeVisible();
  await shoot(page, screen, 'changed in another tab');
  await refuse(page, 'setSessionProduct', 500);
  await button(page, 'Also add $50').click();
  await expect(page.getByText('Failed to set donation amount').first()).toBeVisible();
  await shoot(page, screen, 'gift refused');
});

test('checkout without its card form, without an order, paused', async ({ page }) => {
  const screen = '5 Checkout';
  await orderingJoin(page);
  const script = /stripe[^/]*\.js(\?|$)/;
  await page.route(script, (route) => route.abort());
  await page.goto(CHECKOUT);
  await expect(page.getByRole('alert')).toBeVisible();
  await shoot(page, screen, 'card form not loaded');
  await unroute(page, script);
  await refuse(page, 'getCheckoutDetails', 502);
  await page.goto(CHECKOUT);
  await expect(page.getByText('Failed to fetch checkout details')).toBeVisible();
  await shoot(page, screen, 'order not loaded');
});

test('checkout by a link', async ({ page, invitation }) => {
  await page.goto(`/initialize/checkout?vid=${invitation.contactId}&mp=2&usp=11&c=5000`);
  await expect(cardForm(page).getByLabel('Card number')).toBeVisible();
  await shoot(page, '5 Checkout', 'by a link');
  await typeCard(page);
  await buyNow(page);
  await expect(page.getByText('You must agree to the policies.')).toBeVisible();
  await shoot(page, '5 Checkout', 'by a link, policies not agreed to');
  await page.goto('/registration/student-details');
  await expect(page.getByText('Only the student can see these details.')).toBeVisible();
  await shoot(page, '3 Student Details', 'by a checkout link');
});

test('the consent of a guardian, where a programme asks for it', async ({ page }) => {
  const sentence =
    'I am 18 or older, or my parent or guardian has read the policies and agrees that I apply.';
  await alter(page, 'getContact', (data) => {
    data.guardianConsent = { sentence, isGiven: false };
  });
  await selfNomination(page);
  await page.goto('/registration/student-details');
  await fillDetails(page);
  await button(page, 'Save').click();
  await expect(page.getByRole('alert', { name: 'There is a problem' })).toBeVisible();
  await shoot(page, '3 Student Details', 'consent of a guardian not given');
});

test('lost session and member by another join', async ({ page, browser, baseURL, invitation }) => {
  const elsewhere = await browser.newContext({ baseURL: baseURL! });
  const winner = await elsewhere.newPage();
  const { uuid, pays } = await twoJoins(page, winner, invitation);
  const { id, secret } = await openIntent(page, uuid);
  await pays();
  await page.goto(CHECKOUT);
  await expect(page.getByRole('main').getByText(/already a member/)).toBeVisible();
  await shoot(page, '5 Checkout', 'already a member');
  const { stripe: account, server } = theInduct();
  await stripe(account).confirm(id, 'pm_card_mastercard', `${server.url}/registration/post-payment`);
  await page.goto(
    `/registration/post-payment?payment_intent=${id}&payment_intent_client_secret=${secret}&redirect_status=succeeded`,
  );
  await expect(heading(page, 'Payment refunded')).toBeVisible();
  await shoot(page, '6 Payment return', 'refunded');
  await winner.goto(WELCOME);
  await expect(winner.getByText('you are now a member')).toBeVisible();
  await shoot(winner, '9 Congratulations', 'second payment refunded');
  await elsewhere.close();
  await page.evaluate(() => localStorage.setItem('joinSessionUuid', crypto.randomUUID()));
  await page.goto(CHECKOUT);
  await expect(button(page, 'Start Over')).toBeVisible();
  await shoot(page, '5 Checkout', 'lost session');
});

test('payment return', async ({ page }) => {
  const uuid = await orderingJoin(page);
  const { id, secret } = await openIntent(page, uuid);
  await page.goto(
    `/registration/post-payment?payment_intent=${id}&payment_intent_client_secret=${secret}&redirect_status=failed`,
  );
  await expect(page.getByRole('link', { name: 'Return to Checkout' })).toBeVisible();
  await shoot(page, '6 Payment return', 'not paid');
  await hold(page, 'postPayment');
  await page.goto(
    `/registration/post-payment?payment_intent=${id}&payment_intent_client_secret=${secret}&redirect_status=succeeded`,
  );
  await expect(page.getByText('Confirming your payment…')).toBeVisible();
  await shoot(page, '6 Payment return', 'waiting');
});

test('upgrade', async ({ page, stripeApi }) => {
  const screen = '7 Upgrade';
  const { intent, upgradePath } = await paidJoin(page);
  const release = await hold(page, 'getUpgradeDetails');
  await page.goto(upgradePath);
  await expect(page.getByRole('main').getByRole('status')).toBeVisible();
  await shoot(page, screen, 'loading');
  release();
  await expect(button(page, 'Upgrade Now')).toBeVisible();
  await shoot(page, screen, 'offer');
  await stripeApi.declineFromNowOn(intent, 'insufficient_funds');
  const charged = await hold(page, 'createUpgradeCharge');
  await button(page, 'Upgrade Now').click();
  await expect(button(page, 'Upgrading...')).toBeVisible();
  await shoot(page, screen, 'busy');
  charged();
  await expect(button(page, 'Use another card')).toBeVisible();
  await shoot(page, screen, 'declined');
  await button(page, 'Use another card').click();
  await expect(cardForm(page).getByLabel('Card number')).toBeVisible();
  await shoot(page, screen, 'another card');
  await typeCard(page, '4000000000003220');
  await cardForm(page).getByLabel('ZIP code').fill('78701');
  await button(page, 'Pay $45.00').click();
  const dialog = page.getByRole('dialog', { name: 'Authenticate your payment' });
  await expect(dialog).toBeVisible();
  await shoot(page, screen, 'the bank asks');
  await bankQuestion(page).getByRole('button', { name: 'Fail authentication' }).click();
  await expect(page.getByRole('alert')).toContainText('unable to authenticate');
  await shoot(page, screen, 'the bank refused');
  await button(page, 'Use Visa ending 4242').click();
  await stripeApi.declineFromNowOn(intent, null);
  await page.route(route('createUpgradeCharge'), (request) =>
    request.fulfill({ json: { success: true, status: 'success', data: { status: 'failed' } } }),
  );
  await button(page, 'Upgrade Now').click();
  await expect(page.getByText('Upgrade failed!')).toBeVisible();
  await shoot(page, screen, 'failed');
  await page.goto('/registration/upgrade');
  await expect(page.getByText('Payment intent ID is missing.')).toBeVisible();
  await shoot(page, screen, 'without its payment');
  await refuse(page, 'getUpgradeDetails', 502);
  await page.goto(upgradePath);
  await expect(page.getByRole('main').getByRole('alert')).toBeVisible();
  await shoot(page, screen, 'not loaded');
});

test('transcript', async ({ page }) => {
  const screen = '8 Upload Transcript';
  await paidJoin(page, selfNomination);
  await page.goto('/registration/upload-transcript');
  await expect(page.locator('input[type=file]')).toHaveCount(1);
  await shoot(page, screen, 'empty');
  const choose = page.getByLabel('Choose your transcript');
  await choose.setInputFiles({ ...transcript, name: 'notes.txt', buffer: Buffer.from('My grades') });
  await expect(page.getByRole('alert')).toContainText('not accepted');
  await shoot(page, screen, 'type refused');
  await choose.setInputFiles({ ...transcript, buffer: transcript.buffer.subarray(0, 2000) });
  await expect(page.getByRole('alert')).toContainText('damaged');
  await shoot(page, screen, 'content refused');
  const sent = await hold(page, 'uploadTranscript');
  await choose.setInputFiles(longPdf);
  await expect(page.getByRole('progressbar')).toBeVisible();
  await shoot(page, screen, 'busy');
  await unroute(page, route('uploadTranscript'));
  sent();
  await expect(page.getByRole('link', { name: 'Continue', exact: true })).toBeVisible();
  await shoot(page, screen, 'done');
  await choose.setInputFiles(transcript);
  await expect(page.getByRole('region', { name: 'Uploaded files' }).getByRole('listitem')).toHaveCount(2);
  await shoot(page, screen, 'several files');
  await refuse(page, 'uploadTranscript', 500);
  await choose.setInputFiles(longPdf);
  await expect(button(page, 'Try again')).toBeVisible();
  await shoot(page, screen, 'failed');
  for (const isFinal of [false, true]) {
    await unroute(page, route('getDocuments'));
    const message = isFinal ? REJECTED_FINALLY : rejectionReasons.unreadable;
    await alter(page, 'getDocuments', (data) => {
      data.documents = [];
      data.rejection = { message, isFinal };
    });
    await page.goto('/registration/upload-transcript');
    await expect(page.getByRole('alert')).toContainText(message);
    await shoot(page, screen, isFinal ? 'rejected for good' : 'rejected by staff');
  }
});

test('welcome of who nominated herself', async ({ page }) => {
  const screen = '9 Congratulations';
  await paidJoin(page, selfNomination);
  await page.goto(WELCOME);
  await expect(page.getByText('One thing is still open')).toBeVisible();
  await shoot(page, screen, 'transcript owed');
  await alter(page, 'getWelcome', (data) => Object.assign(data, { rejection: rejectionReasons.unreadable }));
  await page.goto(WELCOME);
  await expect(page.getByText(rejectionReasons.unreadable)).toBeVisible();
  await shoot(page, screen, 'transcript rejected');
});

test('welcome', async ({ page, stripeApi }) => {
  const screen = '9 Congratulations';
  const { uuid, intent } = await paidJoin(page);
  await call(page, 'createUpgradeCharge', { uuid }, { paymentIntent: intent, amount: 4500 });
  const release = await hold(page, 'getWelcome');
  await page.goto(WELCOME);
  await expect(page.getByRole('main').getByRole('status')).toBeVisible();
  await shoot(page, screen, 'loading');
  await unroute(page, route('getWelcome'));
  release();
  await expect(page.getByText('you are now a member')).toBeVisible();
  await shoot(page, screen, 'done');
  await page.emulateMedia({ media: 'print' });
  await shoot(page, screen, 'printed', [PAPER]);
  await page.emulateMedia({ media: 'screen' });
  await alter(page, 'getWelcome', (data) => {
    data.firstName = LONG_NAME;
    data.receipt.name = `${LONG_NAME} ${LONG_NAME}`;
    data.memberships[1].standing = 'refunded';
  });
  await page.goto(WELCOME);
  await expect(page.getByText('You remain a member.')).toBeVisible();
  await shoot(page, screen, 'upgrade refunded, long names');
  await unroute(page, route('getWelcome'));
  await stripeApi.refund(intent);
  await expect
    .poll(async () => (await call(page, 'getWelcome', { uuid })).memberships[0].standing)
    .toBe('refunded');
  await page.goto(WELCOME);
  await expect(heading(page, 'Membership refunded')).toBeVisible();
  await shoot(page, screen, 'refunded');
  await refuse(page, 'getWelcome', 502);
  await page.goto(WELCOME);
  await expect(page.getByRole('main').getByRole('alert')).toBeVisible();
  await shoot(page, screen, 'not loaded');
});

test('resume', async ({ page }) => {
  const screen = '10 Upload Your Resume';
  await page.goto('/upload-resume/101');
  await expect(heading(page, 'Upload Your Resume')).toBeVisible();
  await shoot(page, screen, 'empty');
  const sent = await hold(page, 'uploadResume');
  await page.getByLabel('Choose your resume').setInputFiles(longPdf);
  await expect(page.getByRole('progressbar')).toBeVisible();
  await shoot(page, screen, 'busy');
  sent();
  await expect(heading(page, 'Resume Uploaded Successfully!')).toBeVisible();
  await shoot(page, screen, 'done');
  await page.goto('/upload-resume/');
  await expect(page.getByRole('alert')).toBeVisible();
  await shoot(page, screen, 'no contact id');
  await refuse(page, 'uploadResume', 429, 'Too many files were sent. Please try again in an hour.');
  await page.goto('/upload-resume/102');
  await page.getByLabel('Choose your resume').setInputFiles(transcript);
  await expect(button(page, 'Try again')).toBeVisible();
  await shoot(page, screen, 'refused');
});

test('papers and verification', async ({ page }) => {
  const path = await verifyPathOfMember(page);
  const screen = '9 Congratulations';
  await page.goto(WELCOME);
  await page.getByText('More', { exact: true }).click();
  await page.getByText('Copy the press release as text').click();
  await expect(page.getByLabel('Text of the press release')).toBeVisible();
  const verifiable = page.getByRole('switch', { name: 'Let others verify my membership' });
  await verifiable.click();
  await expect(verifiable).not.toBeChecked();
  await expect(verifiable).not.toHaveAttribute('aria-busy');
  await shoot(page, screen, 'press release as text, entry turned off');
  await verifiable.click();
  await expect(verifiable).toBeChecked();
  const problem =
    'Our certificates are printed in Latin, Greek and Cyrillic letters, and your name has others (م ح د). We have been notified and will write to you; or tell help@society.example how your name should be printed.';
  await alter(page, 'getWelcome', ({ papers }) => Object.assign(papers, { problem }));
  await page.goto(WELCOME);
  await expect(page.getByText(problem)).toBeVisible();
  await shoot(page, screen, 'name that cannot be printed');

  const found = (title: string) => expect(page.getByRole('heading', { name: title })).toBeVisible();
  await page.goto(path);
  await found('This membership is genuine');
  await shoot(page, '11 Otherwise', 'verified');
  await page.goto('/verify/0000-0000');
  await found('We have no record of such a membership');
  await shoot(page, '11 Otherwise', 'number not known');
  await alter(page, 'verifyNumber', (answer) => Object.assign(answer, { standing: 'ended' }));
  await page.goto(path);
  await found('This membership is no longer valid');
  await shoot(page, '11 Otherwise', 'membership that ended');
});

test('reminders', async ({ page }) => {
  const screen = '11 Otherwise';
  await page.goto(await stopPageOf('gallery@example.com'));
  await expect(button(page, 'Stop reminders')).toBeVisible();
  await shoot(page, screen, 'reminders');
  await button(page, 'Stop reminders').click();
  await expect(button(page, 'Send reminders again')).toBeVisible();
  await shoot(page, screen, 'reminders stopped');
  await page.goto('/unsubscribe/cut-off');
  await expect(page.getByRole('alert')).toBeVisible();
  await shoot(page, screen, 'reminders, link cut off');
});

test('what went wrong', async ({ page }) => {
  const screen = '11 Otherwise';
  await startedJoin(page);
  await page.goto('/no/such/page');
  await expect(page.getByRole('main').getByRole('link').first()).toBeVisible();
  await shoot(page, screen, 'not found');
  // This handler makes downloads of code fail. It has to be set before the page opens, since the page downloads the next screen's
  // code as soon as the joiner touches anything.
  await page.route('**/static/js/async/**', (route) => route.abort('connectionrefused'));
  await page.goto('/');
  await page.getByLabel('Invite code').fill('LINCOLN2026');
  await button(page, 'Submit').click();
  await expect(page.getByRole('heading', { name: 'Unexpected Application Error!' })).toBeVisible();
  await shoot(page, screen, 'unexpected error');
});

test('toasts', async ({ page }) => {
  await startedJoin(page);
  await page.goto('/registration/student-details');
  await fillDetails(page);
  await page.clock.install();
  await save(page);
  await expect(page.getByText('Student details submitted successfully!')).toBeVisible();
  await refuse(
    page,
    'setMembership',
    500,
    'The server is being looked after. Please try again in a few minutes.',
  );
  const choose = button(page, 'Choose this membership: Membership');
  await choose.click();
  await expect(page.getByRole('dialog')).toHaveCount(2);
  await shoot(page, '11 Otherwise', 'toasts');
});
