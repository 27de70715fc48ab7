/**
 * Options of Stripe's card forms that turn Link off, even if the Stripe account has it enabled. With Link the joiner could pay from
 * a bank account, but the upgrade needs a card to charge again (https://docs.stripe.com/payments/link/link-payment-integrations).
 */
export const cardOptions = { wallets: { link: 'never' } } as const;
