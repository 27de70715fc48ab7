interface Permission {
  /** As Stripe's Dashboard names it. */
  name: string;
  access: 'Read' | 'Write';
  /** Stripe's word for it, which its refusals name too; null where it is not known: to be ticked by hand. */
  word: string | null;
  why: string;
}

/** What a restricted key must be allowed (https://docs.stripe.com/keys/restricted-api-keys). Write includes reading. */
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
 * Stripe's page for a restricted key with name and permissions filled in. Stripe does not document these parameters; many
 * open integrations use them, and whoever makes the key sees on the page what is ticked.
 */
export function restrictedKeyPage({ live }: { live: boolean }): string {
  const page = new URL(`https://dashboard.stripe.com/${live ? '' : 'test/'}apikeys/create`);
  page.searchParams.set('name', 'Induct');
  for (const { word } of permissions) if (word !== null) page.searchParams.append('permissions[]', word);
  return page.href;
}
