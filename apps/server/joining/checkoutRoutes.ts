import type { FastifyInstance } from 'fastify';
import type { Deps } from '../deps.ts';
import { serve } from '../platform/http/routes.ts';
import { deleteSessionProduct, setCustomDonation, setSessionProduct } from './changeOrder.ts';
import { checkoutDetails } from './checkoutDetails.ts';
import { initiateCheckout } from './initiateCheckout.ts';

export function checkoutRoutes(app: FastifyInstance, deps: Deps): void {
  serve(app, 'getCheckoutDetails', async ({ params, request }) => ({
    data: await checkoutDetails(deps, params.uuid, deps.browser.holdingOf(request, params.uuid)),
  }));
  serve(app, 'setSessionProduct', async ({ params, body, request }) => ({
    data: await setSessionProduct(deps, params.uuid, deps.browser.holdingOf(request, params.uuid), body),
  }));
  serve(app, 'setCustomDonation', async ({ params, body, request }) => ({
    data: await setCustomDonation(
      deps,
      params.uuid,
      deps.browser.holdingOf(request, params.uuid),
      body.amount,
    ),
  }));
  serve(app, 'deleteSessionProduct', async ({ params, request }) => {
    await deleteSessionProduct(deps, params.sessionProductUuid, (uuid) =>
      deps.browser.holdingOf(request, uuid),
    );
    return { data: { status: 'success' as const } };
  });
  serve(app, 'initiateCheckout', async ({ body, request, reply }) => {
    const { exp, sig, ...rest } = body;
    const signature = { exp, sig };
    const { uuid, programme } = await initiateCheckout(deps, { ...rest, signature, address: request.ip });
    deps.browser.giveBegan(reply, uuid);
    return { data: { joinSessionUuid: uuid, programme, message: 'Your checkout is ready.' } };
  });
}
