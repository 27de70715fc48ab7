import type { FastifyInstance } from 'fastify';
import { isOpenIn } from '#core/holding.ts';
import type { Deps } from '../deps.ts';
import { sessionNotFound } from '../platform/http/refusal.ts';
import { serve } from '../platform/http/routes.ts';
import { readStanding, refusalFor } from '../session/standing.ts';
import { beginPayment } from './beginPayment.ts';
import { prepareCustomer } from './cardCustomer.ts';
import { createPaymentIntent } from './createPaymentIntent.ts';
import { handlePaymentReturn } from './handlePaymentReturn.ts';
import { settlePaying } from './settlePaying.ts';
import { stripeWebhook } from './webhook.ts';

export function paymentRoutes(app: FastifyInstance, deps: Deps): void {
  serve(app, 'createPaymentIntent', async ({ params, body, request }) => ({
    data: await createPaymentIntent(deps, params.uuid, {
      ...body,
      holding: deps.browser.holdingOf(request, params.uuid),
    }),
  }));
  serve(app, 'beginPayment', async ({ params, body, request }) => ({
    data: await beginPayment(deps, params.uuid, {
      ...body,
      holding: deps.browser.holdingOf(request, params.uuid),
      joinsOfBrowser: deps.browser.joinsOf(request),
    }),
  }));
  serve(app, 'releasePayment', async ({ params, request }) => {
    let standing = await readStanding(deps, params.uuid);
    const holding = deps.browser.holdingOf(request, params.uuid);
    if (standing && !isOpenIn(holding, standing))
      throw await refusalFor(deps, 'releasePayment', params.uuid, { holding });
    if (standing?.state === 'paying' && (await settlePaying(deps, params.uuid, 'failed')) !== 'paying')
      standing = await readStanding(deps, params.uuid);
    if (!standing) throw sessionNotFound();
    return { data: { state: standing.state, goOn: standing.goOn } };
  });
  serve(app, 'postPayment', async ({ params, body, request, reply }) => {
    const holding = deps.browser.holdingOf(request, params.uuid);
    const { data, isItsBrowser } = await handlePaymentReturn(deps, params.uuid, { ...body, holding });
    if (data.status === 'succeeded') {
      if (isItsBrowser) deps.browser.givePaid(reply, params.uuid);
      prepareCustomer(deps, params.uuid, data.paymentIntent);
    }
    return { data };
  });
  void app.register(stripeWebhook, { deps });
}
