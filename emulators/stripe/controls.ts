import { bodyOf } from '../shared/control.ts';
import { require } from './call.ts';
import { closeDispute, openDispute } from './disputes.ts';
import { invalid } from './errors.ts';
import type { Intent } from './intent-states.ts';
import { settle } from './payments.ts';
import type { App, Perform } from './server.ts';
import { WEBHOOK_MODES, type WebhookMode, type Webhooks } from './webhooks.ts';

/**
 * What tests may do to the emulated account beyond the provider's API: what networks, banks and cardholders do.
 *
 * - `POST /_emulator/webhooks {mode, ms?}`, `POST /_emulator/webhooks/flush`
 * - `POST /_emulator/disputes {charge, reason?}`, `POST /_emulator/disputes/:id/close {status: won | lost}`
 * - `POST /_emulator/payment_methods/:id {declines: code | null}`: the issuer declines this card from now on
 * - `POST /_emulator/processing {hold}`: payments stay in `processing` until settled by
 *   `POST /_emulator/payment_intents/:id/settle {declines?: code}`
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
    const { charge, reason } = bodyOf(request.body) as { charge: string; reason?: string };
    return perform({}, (call) => openDispute(call, charge, reason ?? 'fraudulent'));
  });
  app.post<{ Params: { id: string } }>('/_emulator/disputes/:id/close', async (request) => {
    const { status } = bodyOf(request.body) as { status: 'won' | 'lost' };
    if (status !== 'won' && status !== 'lost') throw invalid('status must be won or lost');
    return perform({}, (call) => closeDispute(call, request.params.id, status));
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
    const { hold } = bodyOf(request.body) as { hold: boolean };
    perform({}, (call) => call.store.setSetting('processing', hold ? 'hold' : 'go on'));
    return { hold };
  });
  app.post<{ Params: { id: string } }>('/_emulator/payment_intents/:id/settle', async (request) => {
    const { declines } = bodyOf(request.body) as { declines?: string };
    return perform({}, (call) =>
      settle(call, require<Intent>(call, 'payment_intent', request.params.id, 'intent'), declines),
    );
  });
}
