/**
 * Of Stripe's card form, in Checkout and on the upgrade screen alike: no Link, even where the account has it on. Only cards are
 * taken, and the card that paid is shown again with its last digits and may be charged for an upgrade; Link may pay by a bank
 * account under a card's name (https://docs.stripe.com/payments/link/link-payment-integrations).
 */
export const cardOptions = { wallets: { link: 'never' } } as const;
