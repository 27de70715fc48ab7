import { bodyOf } from '../shared/control.ts';
import { type Call, require } from './call.ts';
import { closeDispute, DISPUTE_ENDINGS, escalateInquiry, openDispute } from './disputes.ts';
import { invalid } from './errors.ts';
import type { Intent } from './intent-states.ts';
import { authenticationOf, processingOf, settle } from './payments.ts';
import { failPayout, payOut, reconcilePayout } from './payouts.ts';
import { REFUND_ANSWERS, settleRefund } from './refunds.ts';
import { closeReview, REVIEW_ENDINGS, REVIEWING, type ReviewEnding } from './reviews.ts';
import type { App, Perform } from './server.ts';
import type { ApiObject } from './store.ts';
import { WEBHOOK_MODES, type WebhookMode, type Webhooks } from './webhooks.ts';

/**
 * Calls with which tests cause events that the provider's API cannot cause: actions of networks, banks and cardholders.
 *
 * - `POST /_emulator/webhooks {mode, ms?}`: sets how webhooks are delivered from now on (webhooks.ts)
 * - `POST /_emulator/webhooks/flush`: sends all pending webhooks; `POST /_emulator/webhooks/idle`: waits until none is being sent
 * - `POST /_emulator/disputes {charge, reason?, amount?, isInquiry?}`: opens a dispute, or an inquiry
 * - `POST /_emulator/disputes/:id/close {status: won | lost | prevented | warning_closed}`: ends it; `POST
 *   /_emulator/disputes/:id/escalate`: makes an inquiry a dispute
 * - `POST /_emulator/refunds {answer: succeeded | pending | requires_action | refused}`: sets how refunds are answered from now
 *   on; `POST /_emulator/refunds/:id/settle {status: succeeded | failed | canceled, reason?}`: settles one refund
 * - `POST /_emulator/payment_methods/:id {declines: code | null}`: the issuer declines this card from now on; null: no longer
 * - `POST /_emulator/processing {hold, intent?}`: with `hold`, payments from now on, or those of one intent, stay in `processing`
 *   until `POST /_emulator/payment_intents/:id/settle {declines?: code}` lets one succeed, or declines it
 * - `POST /_emulator/reviews {hold}`: with `hold`, Radar opens a review of each payment from now on; `POST
 *   /_emulator/reviews/:id/close {reason: approved | refunded | refunded_as_fraud}`: ends a review
 * - `POST /_emulator/payouts {automatic?}`: pays the balance out to the bank; `POST /_emulator/payouts/:id/reconcile`: lets the
 *   API list the transactions of an automatic payout; `POST /_emulator/payouts/:id/fail`: the bank returns the money
 * - `POST /_emulator/account {charges_enabled}`: Stripe stops the account, or lets it charge again
 * - `POST /_emulator/webhook_endpoints/:id {api_version?, url?}`: gives an endpoint another API version, or a URL of this
 *   machine, which the API would not register
 * - `POST /_emulator/payment_method_domains/:id {apple_pay: active | inactive}`: Apple accepts or refuses the domain
 * - `POST /_emulator/browser {wallet}`: sets whether devices have a wallet
 * - `POST /_emulator/payment_intents/:id/authentication {by: frame | redirect}`: sets whether the bank asks its question about
 *   this intent in a frame over the page, or on a separate page
 */
export function addTestControls(app: App, perform: Perform, webhooks: Webhooks): void {
  app.get('/_emulator/webhooks', () => ({ mode: webhooks.mode }));
  app.post('/_emulator/webhooks', async (request) => {
    const { mode, ms } = bodyOf(request.body) as { mode: string; ms?: number };
    if (!WEBHOOK_MODES.includes(mode)) throw invalid(`mode must be one of ${WEBHOOK_MODES.join(', ')}`);
    webhooks.setMode(mode as WebhookMode, ms);
    return { mode };
  });
  app.post('/_emulator/webhooks/flush', () => webhooks.flush());
  app.post('/_emulator/webhooks/idle', async () => {
    await webhooks.idle();
    return {};
  });

  app.post('/_emulator/disputes', async (request) => {
    const { charge, ...opening } = bodyOf(request.body) as { charge: string };
    return perform({}, (call) => openDispute(call, charge, opening));
  });
  app.post<{ Params: { id: string } }>('/_emulator/disputes/:id/close', async (request) => {
    const { status } = bodyOf(request.body);
    const ending = DISPUTE_ENDINGS.find((each) => each === status);
    if (!ending) throw invalid(`status must be one of ${DISPUTE_ENDINGS.join(', ')}`);
    return perform({}, (call) => closeDispute(call, request.params.id, ending));
  });
  app.post<{ Params: { id: string } }>('/_emulator/disputes/:id/escalate', async (request) =>
    perform({}, (call) => escalateInquiry(call, request.params.id)),
  );

  app.post('/_emulator/refunds', async (request) => {
    const { answer } = bodyOf(request.body) as { answer: string };
    if (!(REFUND_ANSWERS as readonly string[]).includes(answer))
      throw invalid(`answer must be one of ${REFUND_ANSWERS.join(', ')}`);
    perform({}, (call) => call.store.setSetting('refunds', answer));
    return { answer };
  });
  app.post<{ Params: { id: string } }>('/_emulator/refunds/:id/settle', async (request) => {
    const { status, reason } = bodyOf(request.body) as {
      status: 'succeeded' | 'failed' | 'canceled';
      reason?: string;
    };
    if (status !== 'succeeded' && status !== 'failed' && status !== 'canceled')
      throw invalid('status must be succeeded, failed or canceled');
    return perform({}, (call) => settleRefund(call, request.params.id, status, reason));
  });

  app.post<{ Params: { id: string } }>('/_emulator/payment_methods/:id', async (request) => {
    const { declines } = bodyOf(request.body) as { declines: string | null };
    return perform({}, (call) => {
      const method = require(call, 'payment_method', request.params.id, 'id');
      call.store.setHidden(method.id, { declines: declines ?? undefined });
      return method;
    });
  });

  app.post('/_emulator/processing', async (request) => {
    const { hold, intent } = bodyOf(request.body) as { hold: boolean; intent?: string };
    perform({}, (call) => call.store.setSetting(processingOf(intent), hold ? 'hold' : 'go on'));
    return { hold };
  });
  app.post<{ Params: { id: string } }>('/_emulator/payment_intents/:id/settle', async (request) => {
    const { declines } = bodyOf(request.body) as { declines?: string };
    return perform({}, (call) =>
      settle(call, require<Intent>(call, 'payment_intent', request.params.id, 'intent'), declines),
    );
  });

  app.post('/_emulator/reviews', async (request) => {
    const { hold } = bodyOf(request.body) as { hold: boolean };
    perform({}, (call) => call.store.setSetting(REVIEWING, hold ? 'hold' : 'go on'));
    return { hold };
  });
  app.post<{ Params: { id: string } }>('/_emulator/reviews/:id/close', async (request) => {
    const { reason } = bodyOf(request.body) as { reason: ReviewEnding };
    if (!REVIEW_ENDINGS.includes(reason)) throw invalid(`reason must be one of ${REVIEW_ENDINGS.join(', ')}`);
    return perform({}, (call) => closeReview(call, request.params.id, reason));
  });

  app.post('/_emulator/payouts', async (request) => {
    const { automatic } = bodyOf(request.body) as { automatic?: boolean };
    return perform({}, (call) => payOut(call, automatic ?? true));
  });
  app.post<{ Params: { id: string } }>('/_emulator/payouts/:id/reconcile', async (request) =>
    perform({}, (call) => reconcilePayout(call, request.params.id)),
  );
  app.post<{ Params: { id: string } }>('/_emulator/payouts/:id/fail', async (request) =>
    perform({}, (call) => failPayout(call, request.params.id)),
  );

  app.post('/_emulator/account', async (request) => {
    const { charges_enabled } = bodyOf(request.body) as { charges_enabled: boolean };
    perform({}, (call) => call.store.setSetting('charges', charges_enabled ? 'go on' : 'stopped'));
    return { charges_enabled };
  });
  app.post('/_emulator/browser', async (request) => {
    const { wallet } = bodyOf(request.body) as { wallet: boolean };
    perform({}, (call) => call.store.setSetting('wallet', wallet ? 'offered' : 'none'));
    return { wallet };
  });
  app.post<{ Params: { id: string } }>('/_emulator/payment_intents/:id/authentication', async (request) => {
    const { by } = bodyOf(request.body) as { by: 'frame' | 'redirect' };
    if (by !== 'frame' && by !== 'redirect') throw invalid('by must be frame or redirect');
    perform({}, (call) => call.store.setSetting(authenticationOf(request.params.id), by));
    return { by };
  });
  app.post<{ Params: { id: string } }>('/_emulator/webhook_endpoints/:id', async (request) => {
    const fields = bodyOf(request.body) as { api_version?: string; url?: string };
    return perform({}, (call) => change(call, 'webhook_endpoint', request.params.id, fields));
  });
  app.post<{ Params: { id: string } }>('/_emulator/payment_method_domains/:id', async (request) => {
    const { apple_pay: status } = bodyOf(request.body) as { apple_pay: 'active' | 'inactive' };
    const why = { error_message: 'Apple could not verify this domain.' };
    const apple_pay = { status, ...(status === 'inactive' && { status_details: why }) };
    return perform({}, (call) => change(call, 'payment_method_domain', request.params.id, { apple_pay }));
  });
}

function change(call: Call, kind: string, id: string, fields: object): ApiObject {
  const changed = { ...require(call, kind, id, 'id'), ...fields };
  call.store.save(changed);
  return changed;
}
