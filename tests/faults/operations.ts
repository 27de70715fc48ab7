/**
 * The requests to Stripe. A key is the method of PaymentProvider that makes the request, or `confirm`, which the browser makes.
 * `names` says what identifies the join in the request: the session, the session together with the kind of order (`join`,
 * `upgrade`), the payment intent, or nothing.
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
/** The calls to Stripe that our server makes; the browser makes `confirm`. */
export type ServerCall = Exclude<Operation, 'confirm'>;

export const serverCalls = Object.keys(operations).filter((name) => name !== 'confirm') as ServerCall[];

/**
 * Returns a text that occurs in all requests of this operation for one join, and in no request for another join. If the operation
 * belongs to no join, the text occurs in every request. Returns null if the operation's requests can be recognised only by the
 * intent's id, and the join has no intent yet.
 */
export function aboutOf(operation: Operation, uuid: string, intentId: string | null): string | null {
  switch (operations[operation].names) {
    case 'session':
      return `"session":"${uuid}"`;
    case 'join':
      return `"session":"${uuid}","kind":"join"`;
    case 'upgrade':
      // This text is in the request's idempotency key.
      return `${uuid}-upgrade`;
    case 'intent':
      return intentId;
    case 'nothing':
      return '/';
  }
}

/** Where a server may be killed: before and after each call to Stripe, and before and after each commit of a transaction. */
export type KillPoint = `${ServerCall | 'commit'}:${'before' | 'after'}`;

export const killPoints: readonly KillPoint[] = [...serverCalls, 'commit' as const].flatMap((name) => [
  `${name}:before` as const,
  `${name}:after` as const,
]);
