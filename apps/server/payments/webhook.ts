import type { FastifyInstance } from 'fastify';
import type { Deps } from '../deps.ts';
import { Refusal } from '../platform/http/refusal.ts';
import { handleEvent } from './handleEvent.ts';

const NO_EVENT = 'The signature does not hold, or the body is no event.';

/**
 * Receives Stripe's webhook: verifies the signature over the raw body, handles the event, and answers 2xx after the commit.
 * Answers 5xx if handling an event of ours fails, so that Stripe retries. Answers 200 to an event that is not about a payment of
 * ours, and ignores it, and 400 to what is no event.
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
