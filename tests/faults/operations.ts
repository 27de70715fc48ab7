/**
 * Every call of ours to Stripe, by its name in PaymentProvider, as Stripe sees it; and the page's own `confirm`. `names` says
 * what a request of this kind has in its text: the session, with the kind of order, or the payment intent.
 */
export const operations = {
  createCustomer: { method: 'POST', path: '/v1/customers', names: 'session' },
  createIntent: { method: 'POST', path: '/v1/payment_intents', names: 'session' },
  updateIntent: { method: 'POST', path: '/v1/payment_intents/*', names: 'join' },
  retrieveIntent: { method: 'GET', path: '/v1/payment_intents/*', names: 'intent' },
  confirmWithSavedCard: { method: 'POST', path: '/v1/payment_intents/*/confirm', names: 'upgrade' },
  cancelIntent: { method: 'POST', path: '/v1/payment_intents/*/cancel', names: 'intent' },
  refund: { method: 'POST', path: '/v1/refunds', names: 'intent' },
  moneyBack: { method: 'GET', path: '/v1/refunds', names: 'intent' },
  listEvents: { method: 'GET', path: '/v1/events', names: 'nothing' },
  listIntents: { method: 'GET', path: '/v1/payment_intents', names: 'nothing' },
  confirm: { method: 'POST', path: '/v1/payment_intents/*/confirm', names: 'intent' },
} as const;

export type Operation = keyof typeof operations;
/** What the server itself calls. */
export type ServerCall = Exclude<Operation, 'confirm'>;

export const serverCalls = Object.keys(operations).filter((name) => name !== 'confirm') as ServerCall[];

/** The text that tells a request of one join from those of all others. */
export function aboutOf(operation: Operation, uuid: string, intentId: string | null): string | null {
  switch (operations[operation].names) {
    case 'session':
      return `"session":"${uuid}"`;
    case 'join':
      return `"session":"${uuid}","kind":"join"`;
    case 'upgrade':
      // In its idempotency key.
      return `${uuid}-upgrade`;
    case 'intent':
      return intentId;
    case 'nothing':
      return '/';
  }
}

/** Where a server may be killed: around each call to Stripe, and around each commit of a transaction. */
export type KillPoint = `${ServerCall | 'commit'}:${'before' | 'after'}`;

export const killPoints: readonly KillPoint[] = [...serverCalls, 'commit' as const].flatMap((name) => [
  `${name}:before` as const,
  `${name}:after` as const,
]);
