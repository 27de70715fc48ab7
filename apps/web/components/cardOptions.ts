/**
 * Options of Stripe's card forms: no Link, even if the account has it enabled. Link may pay by a bank account, but the upgrade
 * charges the card that paid (https://docs.stripe.com/payments/link/link-payment-integrations).
 */
export const cardOptions = { wallets: { link: 'never' } } as const;
