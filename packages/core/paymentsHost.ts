/** Returns the origin of the card provider's script: Stripe's own, unless `scriptUrl` names another script. */
export function paymentsHost({ scriptUrl }: { scriptUrl: string | null }): string {
  return scriptUrl === null ? 'https://js.stripe.com' : new URL(scriptUrl).origin;
}
