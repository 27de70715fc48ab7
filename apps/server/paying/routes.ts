import type { FastifyInstance } from 'fastify';
import { isOpenIn } from '#core/holding.ts';
import { sessionNotFound } from '../platform/http/refusal.ts';
import { serve } from '../platform/http/routes.ts';
import { readStanding, refusalFor } from '../session/standing.ts';
import { beginPayment } from './beginPayment.ts';
import { prepareCustomer } from './cardCustomer.ts';
import { chargeUpgrade } from './chargeUpgrade.ts';
import { createPaymentIntent } from './createPaymentIntent.ts';
import type { Deps } from './deps.ts';
import { handlePaymentReturn } from './handlePaymentReturn.ts';
import { createPayLink, endPayLink, readPayLink } from './payLinks.ts';
import { beginPayPage, readPayPage, reportPayPage } from './payPage.ts';
import { readRefundRequest, requestRefund } from './refunds/requestRefund.ts';
import { settlePaying } from './settlePaying.ts';
import { skipUpgrade } from './skipUpgrade.ts';
import { upgradeDetails } from './upgradeDetails.ts';
import { stripeWebhook } from './webhook.ts';

export function payingRoutes(app: FastifyInstance, deps: Deps): void {
  serve(app, deps, 'createPaymentIntent', async ({ params, body, holding }) => ({
    data: await createPaymentIntent(deps, params.uuid, { ...body, holding }),
  }));
  serve(app, deps, 'beginPayment', async ({ params, body, holding, request }) => ({
    data: await beginPayment(deps, params.uuid, {
      ...body,
      holding,
      joinsOfBrowser: deps.browser.joinsOf(request),
    }),
  }));
  serve(app, deps, 'releasePayment', async ({ params, holding }) => {
    let standing = await readStanding(deps, params.uuid);
    if (standing && !isOpenIn(holding, standing))
      throw await refusalFor(deps, 'releasePayment', params.uuid, { holding });
    if (standing?.state === 'paying' && (await settlePaying(deps, params.uuid, 'failed')) !== 'paying')
      standing = await readStanding(deps, params.uuid);
    if (!standing) throw sessionNotFound();
    return { data: { state: standing.state, goOn: standing.goOn } };
  });
  serve(app, deps, 'postPayment', async ({ params, body, holding, reply }) => {
    const { data, isItsBrowser } = await handlePaymentReturn(deps, params.uuid, { ...body, holding });
    if (data.status === 'succeeded') {
      if (isItsBrowser) deps.browser.givePaid(reply, params.uuid);
      prepareCustomer(deps, params.uuid, data.paymentIntent);
    }
    return { data };
  });
  serve(app, deps, 'createPayLink', async ({ params, body, holding }) => ({
    data: await createPayLink(deps, params.uuid, { ...body, holding }),
  }));
  serve(app, deps, 'endPayLink', async ({ params, holding }) => {
    await endPayLink(deps, params.uuid, holding);
    return { data: {} };
  });
  serve(app, deps, 'getPayLink', async ({ params, holding }) => ({
    data: await readPayLink(deps, params.uuid, holding),
  }));
  serve(app, deps, 'getPayPage', async ({ params }) => ({ data: await readPayPage(deps, params.token) }));
  serve(app, deps, 'beginPayPage', async ({ params, body }) => ({
    data: await beginPayPage(deps, params.token, body),
  }));
  serve(app, deps, 'reportPayPage', async ({ body }) => ({ data: await reportPayPage(deps, body) }));
  serve(app, deps, 'getRefundRequest', async ({ params, holding }) => ({
    data: await readRefundRequest(deps, params.uuid, holding),
  }));
  serve(app, deps, 'requestRefund', async ({ params, body, holding }) => ({
    data: await requestRefund(deps, params.uuid, { ...body, holding }),
  }));
  serve(app, deps, 'getUpgradeDetails', async ({ params, holding }) => ({
    data: await upgradeDetails(deps, params.uuid, holding),
  }));
  serve(app, deps, 'createUpgradeCharge', async ({ params, body, holding }) => ({
    data: await chargeUpgrade(deps, params.uuid, { ...body, holding }),
  }));
  serve(app, deps, 'skipUpgrade', async ({ params, holding }) => ({
    data: { goOn: await skipUpgrade(deps, params.uuid, holding) },
  }));
  void app.register(stripeWebhook, { deps });
}
