import { filledIn } from './filledIn.ts';

/**
 * The only list of the joiners' HTTP calls, with method and path (specification, section 7). The browser loads this file, so it
 * imports no schema library; the shapes of requests and answers are in schemas.ts, under the same names.
 */
const session = '/api/public/join-session/{uuid}';

export const calls = {
  checkEligibility: { method: 'POST', path: '/api/public/eligibility/check' },
  checkInvitation: { method: 'POST', path: '/api/public/check' },
  initiateJoin: { method: 'POST', path: '/api/public/join/initiate' },
  initiateSchoolJoin: { method: 'POST', path: '/api/public/join/initiate-school' },
  initiateSelfNomination: { method: 'POST', path: '/api/public/join/initiate/self-nomination' },
  initJoin: { method: 'POST', path: '/api/public/join/init/{id}' },
  getOpenJoin: { method: 'GET', path: `${session}/open-join` },
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
  createPayLink: { method: 'POST', path: `${session}/pay-link` },
  endPayLink: { method: 'POST', path: `${session}/end-pay-link` },
  getPayLink: { method: 'GET', path: `${session}/pay-link` },
  getPayPage: { method: 'GET', path: '/api/public/pay/{token}' },
  beginPayPage: { method: 'POST', path: '/api/public/pay/{token}/begin-payment' },
  reportPayPage: { method: 'POST', path: '/api/public/pay-outcome' },
  postPayment: { method: 'POST', path: `${session}/post-payment-handler` },
  getRefundRequest: { method: 'GET', path: `${session}/refund-request` },
  requestRefund: { method: 'POST', path: `${session}/refund-request` },
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
  openPass: { method: 'POST', path: '/api/public/pass/open' },
  sendPassCode: { method: 'POST', path: '/api/public/pass/send-code' },
  provePassByCode: { method: 'POST', path: '/api/public/pass/prove-by-code' },
  provePassByName: { method: 'POST', path: '/api/public/pass/prove-by-name' },
  sendPassLinks: { method: 'POST', path: '/api/public/pass/send-links' },
  getReminders: { method: 'GET', path: '/api/public/reminders/{token}' },
  setReminders: { method: 'POST', path: '/api/public/reminders/{token}' },
  correctEmail: { method: 'POST', path: `${session}/correct-email` },
  getPressRelease: { method: 'GET', path: `${session}/press-release` },
  setVerification: { method: 'POST', path: `${session}/verification` },
  verifyNumber: { method: 'GET', path: '/api/public/verify/{number}' },
  getSite: { method: 'GET', path: '/api/public/site' },
} as const satisfies Record<string, { method: 'GET' | 'POST'; path: `/api/${string}` }>;

export type CallName = keyof typeof calls;

/**
 * The path to which browsers report what they blocked, and pages report errors. It is not in the list of calls, because its
 * answer is empty.
 */
export const REPORTS_PATH = '/api/browser-reports';

/** The calls in the specification's table. Another server that implements the specification may have only these. */
export const specifiedCalls = [
  'checkEligibility',
  'initiateJoin',
  'initiateSchoolJoin',
  'initiateSelfNomination',
  'initJoin',
  'getContact',
  'submitDetails',
  'getMembershipDetails',
  'setMembership',
  'getCheckoutDetails',
  'setSessionProduct',
  'deleteSessionProduct',
  'setCustomDonation',
  'createPaymentIntent',
  'postPayment',
  'getUpgradeDetails',
  'createUpgradeCharge',
  'initiateCheckout',
  'uploadTranscript',
  'uploadResume',
] as const satisfies CallName[];
export type SpecifiedCall = (typeof specifiedCalls)[number];

/**
 * The papers of a join, and a small picture of its certificate as SVG. Only a browser that holds the join gets them. For a PDF,
 * the query `?paper=letter` or `?paper=a4` chooses the paper size; without it, the member's country decides.
 */
export const downloads = {
  certificate: `${session}/certificate.pdf`,
  pressRelease: `${session}/press-release.pdf`,
  certificatePicture: `${session}/certificate.svg`,
} as const satisfies Record<string, `/api/${string}`>;
export type DownloadName = keyof typeof downloads;

/** Returns a call's path with its parameters filled in: pathOf('setMembership', { uuid }) */
export function pathOf(name: CallName, params?: Record<string, string>): string {
  return filledIn(calls[name].path, params);
}

/**
 * The path of a calendar entry (iCalendar) of the day (YYYY-MM-DD) on which a proof of eligibility is due. The entry is the same
 * for everybody.
 */
export const PROOF_CALENDAR = '/api/public/proof-due/{day}/calendar.ics';

/** Returns the path of the calendar entry for a proof that is due on this day (YYYY-MM-DD). */
export function proofCalendarPath(day: string): string {
  return filledIn(PROOF_CALENDAR, { day });
}

/** Returns a download's path with its parameters filled in: downloadPath('certificate', { uuid }) */
export function downloadPath(name: DownloadName, params: { uuid: string }): string {
  return filledIn(downloads[name], params);
}
