/**
 * Every HTTP call once: method and path (specification, section 7). No schema library here, so the browser can
 * import it; the shapes of requests and answers are in schemas.ts, under the same names.
 */
const session = '/api/public/join-session/{uuid}';

export const calls = {
  checkEligibility: { method: 'POST', path: '/api/public/eligibility/check' },
  initiateJoin: { method: 'POST', path: '/api/public/join/initiate' },
  initiateSchoolJoin: { method: 'POST', path: '/api/public/join/initiate-school' },
  initiateSelfNomination: { method: 'POST', path: '/api/public/join/initiate/self-nomination' },
  initJoin: { method: 'POST', path: '/api/public/join/init/{id}' },
  getContact: { method: 'GET', path: `${session}/hubspot-contact` },
  submitDetails: { method: 'POST', path: '/api/public/join/{uuid}/submit-student-details' },
  getMembershipDetails: { method: 'GET', path: `${session}/membership-details` },
  setMembership: { method: 'POST', path: `${session}/set-membership` },
  getCheckoutDetails: { method: 'GET', path: `${session}/checkout-details` },
  setSessionProduct: { method: 'POST', path: `${session}/set-session-product` },
  deleteSessionProduct: { method: 'POST', path: '/api/public/session-product/{sessionProductUuid}/delete' },
  setCustomDonation: { method: 'POST', path: `${session}/set-custom-donation` },
  createPaymentIntent: { method: 'POST', path: `${session}/create-payment-intent` },
  beginPayment: { method: 'POST', path: `${session}/begin-payment` },
  releasePayment: { method: 'POST', path: `${session}/release-payment` },
  postPayment: { method: 'POST', path: `${session}/post-payment-handler` },
  getUpgradeDetails: { method: 'GET', path: `${session}/upgrade-details` },
  createUpgradeCharge: { method: 'POST', path: `${session}/create-upgrade-charge` },
  skipUpgrade: { method: 'POST', path: `${session}/skip-upgrade` },
  initiateCheckout: { method: 'POST', path: '/api/public/checkout/initiate' },
  uploadTranscript: { method: 'POST', path: `${session}/upload-transcript` },
  getDocuments: { method: 'GET', path: `${session}/documents` },
  createUploadLink: { method: 'POST', path: `${session}/upload-link` },
  getUploadLink: { method: 'GET', path: '/api/public/upload-link/{token}' },
  uploadByLink: { method: 'POST', path: '/api/public/upload-link/{token}/upload-transcript' },
  uploadResume: { method: 'POST', path: '/api/public/upload-resume' },
  getWelcome: { method: 'GET', path: `${session}/welcome` },
  getSite: { method: 'GET', path: '/api/public/site' },
} as const satisfies Record<string, { method: 'GET' | 'POST'; path: `/api/${string}` }>;

export type CallName = keyof typeof calls;

/** A call's path with its parameters filled in: pathOf('setMembership', { uuid }) */
export function pathOf(name: CallName, params: Record<string, string> = {}): string {
  return calls[name].path.replace(/\{(\w+)\}/g, (_, key: string) => encodeURIComponent(params[key] ?? ''));
}
