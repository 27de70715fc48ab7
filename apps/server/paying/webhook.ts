import type { FastifyInstance } from 'fastify';
import { Refusal } from '../platform/http/refusal.ts';
import type { Deps } from './deps.ts';
import { handleEvent } from './handleEvent.ts';

const NO_EVENT = 'The signature is wrong, or the body is not an event.';

/**
 * Receives Stripe's webhook: verifies the signature over the raw body, handles the event, and answers 2xx after the commit.
 * Answers 5xx if handling an event of ours fails, so that Stripe retries. Ignores an event that is not about a payment of ours,
 * and answers 200 to it. Answers 400 if the signature is wrong or the body is not an event.
 */
export async function stripeWebhook(app: FastifyInstance, { deps }: { deps: Deps }): Promise<void> {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: 1_048_576 }, (_, body, done) =>
    done(null, body),
  );
  app.post('/api/webhooks/stripe', { schema: { hide: true } }, async (request) => {
    const signature = request.headers['stripe-signature'];
    const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
    const event = typeof signature === 'string' ? await deps.payments.readEvent(body, signature) : null;
    if (!event) throw new Refusal(400, NO_EVENT);
    return { received: true, handled: await handleEvent(deps, event) };
  });
}
