import { docx } from '../harness/documents.ts';
import { alter, refuse, route, routeOnce, unroute } from './arrange.ts';
import { expect, expectAccessible, test } from './fixtures.ts';
import { letterTo } from './passes.ts';
import {
  addressForm,
  button,
  buyNow,
  heading,
  paidIntent,
  runClockUntil,
  total,
  typeBillingAddress,
  typeCard,
} from './steps.ts';

const resume = {
  name: 'resume.docx',
  mimeType: 'application/msword',
  buffer: docx(),
};

test('an invitation that the server cannot look up now is tried again by itself, and opens when it can', async ({
  page,
  complaints,
}) => {
  complaints.expectFailedRequests();
  await page.clock.install();
  await refuse(page, 'initJoin', 503, 'We cannot look up your invitation at this moment.');
  await page.goto('/registration/101/init');
  await expect(page.getByRole('alert')).toContainText('We cannot look up your invitation at this moment.');
  const status = page.getByRole('status').filter({ hasText: 'of 3' });
  await expect(status).toContainText('Trying again automatically (1 of 3)');
  await expect(page.getByRole('dialog')).toHaveCount(0);
  await runClockUntil(page, () => status.filter({ hasText: '(2 of 3)' }).isVisible());
  await unroute(page, route('initJoin'));
  await runClockUntil(page, async () => page.url().endsWith('/registration/student-details'));
});

test('a direct checkout: overridden price, no progress bar, policies above Buy Now, its own upgrade, and the papers for the member alone @phone-only', async ({
  page,
  invitation,
  stripeApi,
}) => {
  await page.goto(`/initialize/checkout?vid=${invitation.contactId}&mp=2&usp=11&c=5000`);
  await expect(page).toHaveURL('/registration/checkout');
  await expect(heading(page, 'Checkout')).toBeVisible();
  await expect(page.getByRole('navigation', { name: 'Progress' })).toBeHidden();
  await expect(page.getByRole('link', { name: 'Back to membership' })).toBeHidden();
  await expect(addressForm(page).getByLabel('ZIP code')).toHaveValue('');
  await typeBillingAddress(page);
  await typeCard(page);
  await buyNow(page);
  await expect(page.getByText('You must agree to the policies.')).toBeVisible();
  const policies = page.getByLabel(/^I agree to the policies/);
  await expect(policies).toBeFocused();
  await policies.check();
  await buyNow(page);
  const intent = await paidIntent(page);
  expect(await stripeApi.taken(intent)).toEqual([5000]);
  await expect(page.getByText('$55', { exact: true })).toBeVisible();
  await button(page, 'Skip').click();
  await expect(heading(page, 'Congratulations')).toBeVisible();

  await expect(page.getByText('Jordan is now a member of Collegiate Honor Society.')).toBeVisible();
  await expect(page.getByRole('link', { name: 'Certificate (PDF)' })).toHaveCount(0);
  expect(await page.content()).not.toMatch(/Rivera|Oak Street|jordan\.rivera/);
  await button(page, 'I am the member').click();
  await expectAccessible(page);
  await button(page, 'Email me a code').click();
  const [code] = /^\d{6}$/m.exec((await letterTo(invitation.email, 'Your code')).text!)!;
  await page.getByLabel('Six-digit code').fill(code);
  await button(page, 'Continue with the code').click();
  await expect(page.getByRole('link', { name: 'Certificate (PDF)' })).toBeVisible();
});

test('a direct checkout below the floor, of an unknown product, by an id that is no number, or for an unknown contact is refused, as an invitation of an unknown contact, and nothing is stored; one without a contact only logs that it is missing', async ({
  page,
  complaints,
}) => {
  complaints.expectFailedRequests();
  for (const [query, sentence] of [
    [
      'vid=101&mp=2&c=3999',
      'The price in this link is too low: Membership with Honor Cord costs at least $40.00.',
    ],
    ['vid=101&mp=12345', 'This product cannot be bought with this link.'],
    [
      'vid=101&mp=one',
      'We could not read “mp=one” in this link, so nothing was started. Please use the link from your email exactly as it was sent, or ask us for a new one.',
    ],
    ['vid=999999999', 'Failed to initiate checkout.'],
  ]) {
    await page.goto(`/initialize/checkout?${query}`);
    await expect(page.getByRole('alert')).toHaveText(`Error: ${sentence}`);
    expect(await page.evaluate(() => localStorage.getItem('joinSessionUuid'))).toBeNull();
  }
  await page.goto('/registration/999999999/init');
  await expect(page.getByRole('alert')).toHaveText('Failed to initiate join process.');
  await page.getByRole('link', { name: 'Get Started' }).click();
  await expect(page).toHaveURL('/registration/get-started');

  complaints.expect(/Contact ID is missing/);
  await page.goto('/initialize/checkout?mp=1');
  await expect(page.getByRole('link', { name: 'Get Started' })).toBeVisible();
  await expect(page.getByRole('alert')).toHaveCount(0);
  expect(complaints.seen.at(-1)).toMatch(/Contact ID is missing/);
});

test('a direct checkout shows the features of a membership as text, as Membership does, and those of an upgrade as HTML', async ({
  page,
  invitation,
}) => {
  const description = 'Books &amp; <b>pins</b>';
  await alter(page, 'getCheckoutDetails', ({ unseen }) => {
    unseen.features[0].description = description;
  });
  const { contactId } = invitation;
  await page.goto(`/initialize/checkout?vid=${contactId}`);
  // Without products in the link, it sells the default membership.
  await expect(total(page)).toHaveText('$65.00');
  await expect(page.getByText(description, { exact: true })).toBeVisible();
  await alter(page, 'getCheckoutDetails', ({ products, unseen }) => {
    products[0].productType = 'membership_upgrade';
    Object.assign(unseen, { features: [{ id: 1, description }], eligibility: null });
  });
  await page.reload();
  await expect(page.getByText('Books & pins', { exact: true })).toBeVisible();
});

test('a resume is uploaded by anyone with its link, which must name a contact who is known', async ({
  page,
  complaints,
}) => {
  complaints.expectFailedRequests();
  await page.goto('/upload-resume/');
  await expect(page.getByRole('alert')).toHaveText('No contact ID provided in the URL!');
  await page.goto('/upload-resume/999999999');
  await page.getByLabel('Choose your resume').setInputFiles(resume);
  await expect(page.getByRole('alert')).toContainText(
    'We could not find the person this link is for. Please use the link from your email, or contact us.',
  );
  await expect(page.locator('input[type=file]')).toHaveCount(1);
  await page.goto('/upload-resume/101');
  await expect(heading(page, 'Upload Your Resume')).toBeVisible();
  await expect(page.locator('input[type=file]')).toHaveCount(1);
  const json = {
    success: true,
    status: 'success',
    data: { success: false, message: 'The server says why not.' },
  };
  await routeOnce(page, route('uploadResume'), (request) => request.fulfill({ json }));
  await page.getByLabel('Choose your resume').setInputFiles(resume);
  await expect(page.getByRole('alert')).toContainText('The server says why not.');
  await expect(page).toHaveTitle('Error: Upload Your Resume');
  await page.getByLabel('Choose your resume').setInputFiles(resume);
  await expect(heading(page, 'Resume Uploaded Successfully!')).toBeFocused();
  await expect(
    page.getByText(
      'Thank you, your resume was successfully uploaded and is being processed. You can safely close this window now.',
    ),
  ).toBeVisible();
  await expect(page.locator('input[type=file]')).toHaveCount(0);
});

test('a code that has expired, one that there is not, and one of a member get a sentence each under the form, other ways on, and no toast', async ({
  page,
  complaints,
}) => {
  for (const [code, sentence] of [
    ['EXPIRED2025', 'Eligibility check failed. This invite code has expired.'],
    ['NOSUCHCODE', 'Eligibility check failed. No contact found or invalid invite code.'],
  ] as const) {
    await page.goto('/');
    await page.getByLabel('Invite code').fill(code);
    await button(page, 'Submit').click();
    await expect(page.getByRole('alert')).toHaveText(sentence);
    await expect(page.getByRole('dialog')).toHaveCount(0);
    const ways = page.getByRole('main').getByText('You do not need a code');
    await expect(ways.getByRole('link', { name: '(555) 010-0144' })).toBeVisible();
    await expect(ways.getByRole('link', { name: 'help@society.example' })).toBeVisible();
    await ways.getByRole('button', { name: 'nominate yourself' }).click();
    await expect(page.getByLabel('Yes, I confirm I meet the eligibility requirements')).toBeVisible();
  }
  await test.step('a contact who is already a member, by a code and by a link', async () => {
    complaints.expectFailedRequests();
    await page.goto('/');
    await page.getByLabel('Invite code').fill('HONOR105');
    await button(page, 'Submit').click();
    await expect(page.getByRole('alert')).toContainText(/already/i);
    await expect(page).toHaveURL('/registration/get-started');
    await expect(page.getByRole('main').getByRole('link', { name: '(555) 010-0144' })).toBeVisible();
    await expect(button(page, 'nominate yourself')).toHaveCount(0);
    await page.goto('/registration/105/init');
    await expect(page.getByRole('alert')).toContainText(/already a member/);
    await expect(page.getByRole('main').getByRole('link')).toHaveCount(0);
  });
});

test('a link opens the join of the contact that it names, wherever they live; a billing address is in the US or Canada', async ({
  page,
  invitation,
}) => {
  await page.goto('/registration/102/init');
  await expect(page).toHaveURL('/registration/student-details');
  await expect(page.getByLabel('Country')).toHaveValue('Canada');
  await expect(page.getByLabel('State/Province')).toHaveValue('Quebec');
  await page.getByLabel('Country').selectOption('United States');
  await expect(page.getByLabel('State/Province')).toHaveValue('');
  await page.goto('/registration/101/init');
  await expect(page.getByLabel('First name')).toHaveValue('Jordan');
  await expect(page.getByLabel('City')).toHaveValue('Austin');
  await page.goto('/registration/104/init');
  await expect(page.getByLabel('Country')).toHaveValue('India');
  await expect(page.getByLabel('State/Province')).toHaveValue('Odisha');
  await page.goto(`/initialize/checkout?vid=${invitation.contactId}`);
  await expect(addressForm(page).getByLabel('Country or region').getByRole('option')).toHaveText([
    'United States',
    'Canada',
  ]);
  await typeBillingAddress(page);
});
