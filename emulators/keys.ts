/** The keys of the emulated accounts. They give access to emulators only. */
export const STRIPE_SECRET_KEY = 'sk_test_emulated';
export const STRIPE_PUBLISHABLE_KEY = 'pk_test_emulated';
export const STRIPE_WEBHOOK_SECRET = 'whsec_emulated';
export const HUBSPOT_ACCESS_TOKEN = 'pat-emulated';
