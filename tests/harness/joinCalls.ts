import { type CallName, calls, type DownloadName, downloadPath, pathOf } from '#contract/calls.ts';
import { details, type openIntent } from './steps.ts';
import type { Client, TestServer } from './testServer.ts';
import { postPdf } from './uploads.ts';

/** A join, a line of its order that can be removed, and its payment intent. */
export interface Join {
  uuid: string;
  line: string;
  intent: Awaited<ReturnType<typeof openIntent>>;
}
export interface Answer {
  status: number;
  text: string;
}
type Ask = (client: Client, join: Join) => Promise<Answer>;

export const asked =
  (name: CallName, body?: unknown): Ask =>
  async (client, { uuid, line }) => {
    const init = body === undefined ? {} : { body: JSON.stringify(body) };
    const { method } = calls[name];
    const headers = body === undefined ? {} : { 'content-type': 'application/json' };
    const response = await client.fetch(pathOf(name, { uuid, sessionProductUuid: line }), {
      method,
      headers,
      ...init,
    });
    return { status: response.status, text: await response.text() };
  };
const downloaded =
  (name: DownloadName): Ask =>
  async (client, { uuid }) => {
    const response = await client.fetch(downloadPath(name, { uuid }));
    return { status: response.status, text: await response.text() };
  };

/**
 * Every call of the public API. For a call that identifies a join by its uuid: the state in which it is allowed, and a function
 * that makes it. For any other call: what its caller has to know instead of a uuid.
 */
export const table: Record<CallName, { when: 'unpaid' | 'paid'; ask: Ask } | { knows: string }> = {
  getOpenJoin: { when: 'unpaid', ask: asked('getOpenJoin') },
  getContact: { when: 'unpaid', ask: asked('getContact') },
  submitDetails: { when: 'unpaid', ask: asked('submitDetails', details({ city: 'Dallas' })) },
  getMembershipDetails: { when: 'unpaid', ask: asked('getMembershipDetails') },
  setMembership: { when: 'unpaid', ask: asked('setMembership', { membershipId: 2 }) },
  getCheckoutDetails: { when: 'unpaid', ask: asked('getCheckoutDetails') },
  setSessionProduct: {
    when: 'unpaid',
    ask: asked('setSessionProduct', { productUuid: '0b6f2f0e-58f1-4d38-9a4e-3f5a9f1f0030' }),
  },
  setCustomDonation: { when: 'unpaid', ask: asked('setCustomDonation', { amount: '7.00' }) },
  deleteSessionProduct: { when: 'unpaid', ask: asked('deleteSessionProduct', {}) },
  createPaymentIntent: {
    when: 'unpaid',
    ask: async (client, join) => {
      const details = await asked('getCheckoutDetails')(client, join);
      const { products = [] } = JSON.parse(details.text).data ?? {};
      const amount = products.reduce((sum: number, { price }: { price: string }) => sum + 100 * +price, 0);
      return asked('createPaymentIntent', { amount, currency: 'usd', billingEmail: 'a@example.com' })(
        client,
        join,
      );
    },
  },
  beginPayment: {
    when: 'unpaid',
    ask: async (client, join) => {
      const details = await asked('getCheckoutDetails')(client, join);
      const { revision = join.intent.revision } = JSON.parse(details.text).data ?? {};
      return asked('beginPayment', { revision, agreeToPolicies: true, hasGuardianConsent: true })(
        client,
        join,
      );
    },
  },
  releasePayment: { when: 'unpaid', ask: asked('releasePayment', {}) },
  createPayLink: { when: 'unpaid', ask: asked('createPayLink', { agreeToPolicies: true }) },
  getPayLink: { when: 'unpaid', ask: asked('getPayLink') },
  endPayLink: { when: 'unpaid', ask: asked('endPayLink', {}) },
  getUpgradeDetails: { when: 'paid', ask: asked('getUpgradeDetails') },
  createUpgradeCharge: {
    when: 'paid',
    ask: (client, join) =>
      asked('createUpgradeCharge', { paymentIntent: join.intent.id, charge: false })(client, join),
  },
  skipUpgrade: { when: 'paid', ask: asked('skipUpgrade', {}) },
  getRefundRequest: { when: 'paid', ask: asked('getRefundRequest') },
  requestRefund: {
    when: 'paid',
    ask: async (client, join) => {
      const shown = await asked('getRefundRequest')(client, join);
      const { total = 0 } = JSON.parse(shown.text).data ?? {};
      return asked('requestRefund', { total })(client, join);
    },
  },
  uploadTranscript: {
    when: 'paid',
    ask: async (client, { uuid }) => {
      const response = await postPdf(client, pathOf('uploadTranscript', { uuid }));
      return { status: response.status, text: await response.text() };
    },
  },
  getDocuments: { when: 'paid', ask: asked('getDocuments') },
  createUploadLink: { when: 'paid', ask: asked('createUploadLink', {}) },
  getWelcome: { when: 'paid', ask: asked('getWelcome') },
  getPressRelease: { when: 'paid', ask: asked('getPressRelease') },
  correctEmail: { when: 'paid', ask: asked('correctEmail', { email: 'corrected@example.com' }) },
  setVerification: { when: 'paid', ask: asked('setVerification', { isVerifiable: false }) },
  checkEligibility: { knows: 'an invite code' },
  checkInvitation: { knows: 'an invite code, or a link' },
  initiateJoin: { knows: 'an invite code' },
  initiateSchoolJoin: { knows: 'an invite code' },
  initiateSelfNomination: { knows: 'nothing: it begins a join' },
  initJoin: { knows: 'a signed link' },
  initiateCheckout: { knows: 'a signed link' },
  postPayment: { knows: "the payment's client secret" },
  getUploadLink: { knows: 'an upload link' },
  uploadByLink: { knows: 'an upload link' },
  uploadResume: { knows: 'a signed link' },
  getPayPage: { knows: 'a pay link' },
  beginPayPage: { knows: 'a pay link' },
  reportPayPage: { knows: "the payment's client secret" },
  openPass: { knows: 'a pass' },
  sendPassCode: { knows: 'a pass' },
  provePassByCode: { knows: 'a pass and a code' },
  provePassByName: { knows: 'a pass, and who the joiner is' },
  sendPassLinks: { knows: 'an email, which alone gets the answer' },
  getReminders: { knows: "a reminder's link" },
  setReminders: { knows: "a reminder's link" },
  verifyNumber: { knows: 'a member number' },
  getSite: { knows: 'nothing: it is about the society' },
};
const papers: Record<DownloadName, { when: 'paid'; ask: Ask }> = {
  certificate: { when: 'paid', ask: downloaded('certificate') },
  pressRelease: { when: 'paid', ask: downloaded('pressRelease') },
  certificatePicture: { when: 'paid', ask: downloaded('certificatePicture') },
};
/** The calls and downloads that identify a join by its uuid, in an order in which each of them succeeds. */
export const ofJoins = [
  ...Object.entries(table),
  ...Object.entries(papers).map(([n, p]) => [`download ${n}`, p] as const),
].flatMap(([name, row]) => ('ask' in row ? [{ name, ...row }] : []));

/** Proves by a mailed code, in the browser `client`, that its user is the joiner. Returns the status of the last call. */
export async function proveByCode({ deps }: TestServer, client: Client, uuid: string): Promise<number> {
  const token = new URL(deps.passes.address(uuid)).hash.slice(1);
  await client.call('sendPassCode', { body: { token } });
  const letters = deps.database.selectFrom('letter').select('occasion').where('kind', '=', 'code');
  const { occasion } = await letters
    .where('session_uuid', '=', uuid)
    .orderBy('created_at', 'desc')
    .executeTakeFirstOrThrow();
  const code = deps.passes.code(uuid, occasion);
  return (await client.call('provePassByCode', { body: { token, code } })).status;
}
