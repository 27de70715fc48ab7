interface Permission {
  /** The permission's name in Stripe's Dashboard. */
  name: string;
  access: 'Read' | 'Write';
  /**
   * Stripe's internal name of the permission, which Stripe's refusals contain. Null if we do not know it: staff must then tick
   * the permission by hand.
   */
  word: string | null;
  why: string;
}

/** The permissions that a restricted key needs (https://docs.stripe.com/keys/restricted-api-keys). `Write` includes `Read`. */
export const permissions: readonly Permission[] = [
  { name: 'Customers', access: 'Write', word: 'rak_customer_write', why: 'cards kept for an upgrade' },
  { name: 'PaymentIntents', access: 'Write', word: 'rak_payment_intent_write', why: 'payments' },
  { name: 'Refunds', access: 'Write', word: 'rak_refund_write', why: 'refunds' },
  {
    name: 'Charges',
    access: 'Write',
    word: 'rak_charge_write',
    why: 'payments, and to take an erased person out of them',
  },
  {
    name: 'PaymentMethods',
    access: 'Read',
    word: 'rak_payment_method_read',
    why: 'the card that is shown again',
  },
  { name: 'Disputes', access: 'Read', word: 'rak_dispute_read', why: 'disputes' },
  { name: 'Events', access: 'Read', word: 'rak_event_read', why: 'what a lost webhook would have told' },
  {
    name: 'Balance transactions',
    access: 'Read',
    word: 'rak_balance_transaction_source_read',
    why: 'the ledger',
  },
  { name: 'Payouts', access: 'Read', word: 'rak_payout_read', why: 'the ledger' },
  { name: 'Webhook Endpoints', access: 'Write', word: 'rak_webhook_write', why: 'setup and doctor' },
  { name: 'Payment Method Domains', access: 'Write', word: null, why: 'setup and doctor' },
  { name: 'Payment Method Configurations', access: 'Read', word: null, why: 'doctor' },
  { name: 'Account', access: 'Read', word: null, why: 'doctor' },
];

/**
 * Returns the URL of Stripe's page for a new restricted key, with its name and permissions filled in. The URL's parameters are
 * not documented by Stripe, but many public integrations use them, and the page shows staff which permissions are ticked.
 */
export function restrictedKeyPage({ live }: { live: boolean }): string {
  const page = new URL(`https://dashboard.stripe.com/${live ? '' : 'test/'}apikeys/create`);
  page.searchParams.set('name', 'Induct');
  for (const { word } of permissions) if (word !== null) page.searchParams.append('permissions[]', word);
  return page.href;
}
