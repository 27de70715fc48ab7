import type { Page, Route } from '@playwright/test';
import { askStripe } from '../harness/providers.ts';
import { theInduct } from './fixtures.ts';

/**
 * Answers every call of the page exactly as section 7 of the specification describes: only with the fields that its table and
 * section 3 name. Any other call gets a 404, as from a server that does not have it.
 */

const SESSION = '5d1f3c52-0a5e-4c07-9d5f-64c7c1f4a001';
const PIN = '5d1f3c52-0a5e-4c07-9d5f-64c7c1f4a002';
const GIFT = '5d1f3c52-0a5e-4c07-9d5f-64c7c1f4a006';
const PRESET = '5d1f3c52-0a5e-4c07-9d5f-64c7c1f4a003';

type Kind = 'membership' | 'membership_upgrade' | 'donation' | 'donation_other' | 'store';
const product = (id: number, name: string, price: string, productType: Kind, uuid: string) => ({
  sessionProductUuid: null as string | null,
  productId: id,
  name,
  price,
  displayPrice: `$${price}`,
  description: `About ${name}.`,
  icon: '',
  productType,
  sortOrder: id,
  uuid,
  id,
});
const membership = product(1, 'Membership', '65.00', 'membership', '5d1f3c52-0a5e-4c07-9d5f-64c7c1f4a004');
const preset = product(2, 'Donation', '25.00', 'donation', PRESET);
const pin = product(3, 'Lapel pin', '12.00', 'store', PIN);
const upgrade = product(
  10,
  'Lifetime Membership',
  '45.00',
  'membership_upgrade',
  '5d1f3c52-0a5e-4c07-9d5f-64c7c1f4a005',
);

const contact = {
  firstName: 'Jordan',
  middleName: '',
  lastName: 'Rivera',
  address: '12 Oak Street',
  address2: '',
  city: 'Austin',
  state: 'TX',
  zip: '78701',
  country: 'US',
  email: 'jordan.rivera@example.com',
  personalEmail: 'jordan.rivera@example.com',
  schoolEmail: '',
  schoolId: '7',
  schoolName: 'Lincoln High School',
  acceptedPrivacyPolicy: false,
  highSchoolName: 'Lincoln High School',
  highSchoolGraduationYear: String(new Date().getFullYear() + 1),
  highSchoolGpa: '3.8',
};

export interface Asked {
  /** "POST /join/initiate" */
  call: string;
  body: Record<string, unknown>;
}

/**
 * Serves the answers to this page. Returns the calls that the page has made. Calls that got no such answer are in a separate
 * list.
 */
export async function serveSpecified(
  page: Page,
  { isCheckoutOnly = false, isSelfNomination = true } = {},
): Promise<{ asked: Asked[]; unanswered: Asked[] }> {
  const asked: Asked[] = [];
  const unanswered: Asked[] = [];
  let lines = isCheckoutOnly ? [{ ...membership, sessionProductUuid: lineUuid(1) }] : [];
  let added = 1;
  const add = (line: typeof membership) => {
    const inOrder = { ...line, sessionProductUuid: lineUuid(++added) };
    lines.push(inOrder);
    return inOrder;
  };
  const started = { data: { uuid: SESSION, message: 'Your join has begun.' } };

  const answers: Record<string, (body: Record<string, unknown>, path: string) => unknown> = {
    'POST /eligibility/check': () => ({ data: { status: 'success', message: 'Welcome.', contactId: '101' } }),
    'POST /join/initiate': () => started,
    'POST /join/initiate-school': () => started,
    'POST /join/initiate/self-nomination': () => started,
    'POST /join/init/*': () => started,
    'GET /join-session/*/hubspot-contact': () => ({ data: contact }),
    'POST /join/*/submit-student-details': () => ({ success: true }),
    'GET /join-session/*/membership-details': () => ({
      data: {
        memberships: [
          { id: 1, name: 'Membership', price: '65.00', features: [{ id: 1, description: 'A certificate' }] },
          {
            id: 2,
            name: 'Membership with Cord',
            price: '80.00',
            features: [{ id: 2, description: 'A cord' }],
          },
        ],
        selectedMembershipId: null,
        membershipPageHeader: 'Choose your membership',
        membershipPageSubheader: 'Both are for life.',
      },
    }),
    'POST /join-session/*/set-membership': () => {
      lines = lines.filter(({ productType }) => productType !== 'membership');
      add(membership);
      return { data: { status: 'success' } };
    },
    'GET /join-session/*/checkout-details': () => ({
      data: {
        donationOptions: [{ id: 2, uuid: PRESET, amount: 25 }],
        billingEmail: contact.personalEmail,
        isCheckoutOnly,
        products: lines,
        recommendedProducts: [pin],
      },
    }),
    'POST /join-session/*/set-session-product': ({ productUuid }) => ({
      data: add(productUuid === PIN ? pin : preset),
    }),
    'POST /session-product/*/delete': (_, path) => {
      lines = lines.filter(({ sessionProductUuid }) => !path.includes(sessionProductUuid!));
      return { status: 'success' };
    },
    // In the specification's table, the product's fields have no `data` around them.
    'POST /join-session/*/set-custom-donation': ({ amount }) =>
      add({ ...preset, price: Number(amount).toFixed(2), productType: 'donation_other', uuid: GIFT }),
    'POST /join-session/*/create-payment-intent': async ({ amount }) => ({
      data: { clientSecret: await intentOf(Number(amount)) },
    }),
    'POST /join-session/*/post-payment-handler': () => ({ data: {} }),
    'GET /join-session/*/upgrade-details': () => ({
      upgradeOption: upgrade,
      isEligibleForUpgrade: true,
      isSelfNomination,
      features: [{ id: 1, description: '<b>For life</b>' }],
      congratulationsHeader: 'You are in!',
      congratulationsSubheader: 'Welcome.',
      upgradeHeader: 'Make it lifelong',
      upgradeSubheader: 'Once and for all.',
    }),
    'POST /join-session/*/create-upgrade-charge': () => ({ data: { status: 'succeeded' } }),
    'POST /checkout/initiate': () => ({
      data: { joinSessionUuid: SESSION, message: 'Your checkout is open.' },
    }),
    'POST /join-session/*/upload-transcript': () => ({ success: true }),
    'POST /upload-resume': () => ({ data: { success: true, message: 'Thank you.' } }),
  };
  const patterns = Object.entries(answers).map(([call, answer]) => {
    const [method, path] = call.split(' ') as [string, string];
    return { call, answer, method, path: new RegExp(`^/api/public${path.replaceAll('*', '[^/]+')}$`) };
  });

  await page.route('**/api/public/**', async (route: Route) => {
    const request = route.request();
    const { pathname } = new URL(request.url());
    const known = patterns.find(({ method, path }) => method === request.method() && path.test(pathname));
    const isJson = request.headers()['content-type'] === 'application/json';
    const body = (isJson ? request.postDataJSON() : {}) as Record<string, unknown>;
    if (known) {
      asked.push({ call: known.call, body });
      return route.fulfill({ json: await known.answer(body, pathname) });
    }
    unanswered.push({ call: `${request.method()} ${pathname}`, body });
    return route.fulfill({ status: 404, contentType: 'text/html', body: `Cannot ${request.method()}` });
  });
  return { asked, unanswered };
}

const lineUuid = (number: number) => `5d1f3c52-0a5e-4c07-9d5f-64c7c1f4b${String(number).padStart(3, '0')}`;

/** Makes an intent at the emulated Stripe. Returns its client secret. */
async function intentOf(amount: number): Promise<string> {
  const { client_secret } = await askStripe<{ client_secret: string }>(
    theInduct().stripe.url,
    'POST',
    '/v1/payment_intents',
    { amount: String(amount), currency: 'usd', 'allowed_payment_method_types[]': 'card' },
  );
  return client_secret;
}
