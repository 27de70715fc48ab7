/**
 * The error catalogue of the specification, section 8: the sentence that a screen shows when a call failed and the server sent no
 * message. The sentences of section 5 are next to the rules that they belong to.
 */
export const fallback = {
  checkEligibility: 'An error occurred during the eligibility check.',
  initiateJoin: 'Failed to initiate the join process.',
  initiateSchoolJoin: 'Failed to initiate the school join process.',
  initiateSelfNomination: 'Failed to initiate the self-nomination process.',
  initJoin: 'Failed to initiate join process.',
  getContact: 'Failed to fetch HubSpot contact.',
  submitDetails: 'An error occurred while submitting student details.',
  getMembershipDetails: 'Failed to load membership details.',
  setMembership: 'An error occurred while setting membership.',
  getCheckoutDetails: 'Failed to fetch checkout details',
  setDonation: 'Failed to set donation amount',
  setCustomDonation: 'Failed to set custom donation amount',
  deleteDonation: 'Failed to delete donation',
  deleteStoreProduct: 'Failed to delete store product',
  addProduct: 'Failed to add product',
  createPaymentIntent: 'Failed to create payment intent',
  payment: 'Payment failed.',
  getUpgradeDetails: 'Failed to fetch upgrade details.',
  upgrade: 'An error occurred during the upgrade process.',
  initiateCheckout: 'Failed to initiate checkout.',
  upload: 'Failed to upload file.',
} as const;

export const ELIGIBILITY_FAILED = 'Eligibility check failed. No contact found or invalid invite code.';
export const INVITATION_EXPIRED = 'Eligibility check failed. This invite code has expired.';
export const DETAILS_NOT_ACCEPTED = 'Failed to submit student details.';
/** Shown while it is not known whether a payment has succeeded. */
export const OUTCOME_UNKNOWN =
  'We do not know yet whether your payment went through. You will not be charged twice: if it did, Checkout will say so.';
/** Shown when the bank's decision about a payment takes longer than the page keeps asking. */
export const BANK_DECIDES =
  'Your bank is still deciding on this payment. You will not be charged twice: try again in a minute to see the result.';
/** Shown while the confirmation of a payment takes longer than usual. */
export const PAYMENT_IS_SLOW =
  'This is taking longer than usual. Please keep this page open. You will not be charged twice.';
/** Shown on Student Details and at Checkout when the programme asks for guardian consent and it is missing. */
export const GUARDIAN_CONSENT_REQUIRED = 'Please confirm your age, or that your parent or guardian agrees.';
/** Shown to joiners outside the United States before they save their details, and to all joiners above the card form. */
export const CARDS_ACCEPTED = 'We accept only cards billed in the United States or Canada.';
export const DETAILS_SUBMITTED = 'Student details submitted successfully!';
export const NO_SESSION_FOR_MEMBERSHIP = 'No active join session.';
export const NO_SESSION_FOR_UPGRADE = 'No active join session found.';
export const NO_PAYMENT_INTENT = 'Payment intent ID is missing.';
export const UPGRADE_FAILED = 'Upgrade failed!';
export const RESUME_UPLOADED = 'Resume Uploaded Successfully!';
export const RESUME_THANKS =
  'Thank you, your resume was successfully uploaded and is being processed. You can safely close this window now.';

export interface ToastText {
  title: string;
  text: string;
}

/** Returns the toast for a failed response (specification, section 8). `message` is the server's message, if there is one. */
export function toastFor(status: number, message?: string): ToastText {
  if (status === 401) return { title: 'Unauthorized', text: 'Please log in again.' };
  if (status === 400) return { title: 'Bad Request', text: 'There was a problem with your request.' };
  return { title: 'Error', text: message || 'An error occurred.' };
}

/** Shown when no answer arrived in time. */
export const NO_ANSWER = 'We got no answer. Please check your connection, and try again.';
/** Shown when the link in a letter or a code could not be looked up. */
export const LINK_NOT_OPENED = 'We could not open your link. Please try again.';

/** Shown when a request could not be sent at all. */
export const UNSENT_TOAST: ToastText = { title: 'Request Error', text: 'Failed to send request.' };

/**
 * Returns the sentence for the status with which a proxy, or a network's sign-in page, answered in place of our server; undefined
 * if the status only means that the call failed.
 */
export function sentenceOfProxy(status: number): string | undefined {
  if (status === 413)
    return 'This is larger than our server accepts. Please send something smaller, or email it to us.';
  if (status === 502 || status === 503 || status === 504)
    return 'We cannot be reached right now. Please try again in a minute.';
  if (status < 400)
    return 'Something else answered instead of our server. Please check that you are online, and whether your network asks you to sign in first.';
  return undefined;
}
