import type { FastifyReply } from 'fastify';
import { bodyOf } from '../shared/control.ts';
import { bundle, type Program } from './bundle.ts';
import type { Call } from './call.ts';
import { ApiError } from './errors.ts';
import { type Intent, type IntentSecrets, publicView } from './intent-states.ts';
import { intentOf } from './payment-intents.ts';
import { finishAuthentication } from './payments.ts';
import type { App, Perform } from './server.ts';

/**
 * Serves the files that a browser loads from the emulator in addition to the API: stripe.js, its frames and windows, and the card
 * issuer's page.
 */
export async function addBrowserRoutes(app: App, perform: Perform): Promise<void> {
  // Browsers request this icon together with the card issuer's page.
  app.get('/favicon.ico', (_, reply) => reply.status(204).send());
  const scripts: [string, Program][] = [
    ['/stripe.js', 'stripe'],
    ['/frame.js', 'frame'],
    ['/wallet.js', 'wallet-window'],
  ];
  for (const [path, program] of scripts) {
    // The script is bundled on the first request, since most tests open no browser.
    let script: string | undefined;
    app.get(path, (_, reply) => {
      script ??= bundle(program);
      return reply.type('text/javascript; charset=utf-8').header('cache-control', 'no-cache').send(script);
    });
  }
  const frame = (_: unknown, reply: FastifyReply, script: string, title: string) =>
    reply
      .type('text/html; charset=utf-8')
      .headers({ 'cache-control': 'no-cache', 'content-security-policy': FRAME_POLICY })
      .send(
        documentOf(
          script,
          title,
          perform({}, (call) => call.store.setting('wallet') === 'offered'),
        ),
      );
  app.get('/frame.html', (request, reply) => frame(request, reply, 'frame.js', 'Secure input'));
  app.get('/wallet.html', (request, reply) => frame(request, reply, 'wallet.js', 'Wallet'));

  app.get<{ Params: { id: string }; Querystring: { client_secret: string } }>(
    '/authenticate/:id',
    async (request, reply) => {
      const intent = perform({}, (call) => find(call, request.params.id, request.query.client_secret));
      return reply
        .type('text/html; charset=utf-8')
        .header('referrer-policy', 'no-referrer')
        .send(page(intent));
    },
  );

  // Takes the cardholder's answer to the bank's question. Answers Stripe.js with the intent as JSON, and the bank's own page with
  // a redirect to the return URL.
  app.post<{ Params: { id: string } }>('/authenticate/:id', async (request, reply) => {
    const form = request.headers['content-type']?.startsWith('application/x-www-form-urlencoded');
    const given = form
      ? Object.fromEntries(new URLSearchParams(request.body as string))
      : (bodyOf(request.body) as Record<string, string>);
    const intent = perform({}, (call) =>
      finishAuthentication(
        call,
        find(call, request.params.id, given.client_secret!),
        given.outcome === 'complete',
      ),
    );
    if (!form) return publicView(intent);
    const back = perform({}, (call) => call.store.hidden<IntentSecrets>(intent.id).returnUrl);
    return reply.redirect(returnAddress(back!, intent), 303);
  });
}

/** The content security policy of the frames. It is as strict as it can be: it allows only one script, and calls to the API. */
const FRAME_POLICY =
  "default-src 'none'; script-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'";

function documentOf(script: string, title: string, hasWallet: boolean): string {
  return `<!doctype html>
<html lang="en"${hasWallet ? ' data-wallet' : ''}>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${title}</title>
<body><script src="${script}"></script></body>
</html>
`;
}

function find(call: Call, id: string, secret: string): Intent {
  const intent = intentOf({ ...call, fromBrowser: true, ids: { id }, params: { client_secret: secret } });
  if (intent.status !== 'requires_action') {
    throw new ApiError(400, {
      type: 'invalid_request_error',
      code: 'payment_intent_unexpected_state',
      message: `This PaymentIntent has a status of ${intent.status} and asks for no authentication.`,
    });
  }
  return intent;
}

const REDIRECT_STATUS: Record<string, string> = { succeeded: 'succeeded', processing: 'pending' };

/** Returns the merchant's return URL with the parameters that the provider appends. */
export function returnAddress(address: string, intent: Intent): string {
  const url = new URL(address);
  url.searchParams.set('payment_intent', intent.id);
  url.searchParams.set('payment_intent_client_secret', intent.client_secret!);
  url.searchParams.set('redirect_status', REDIRECT_STATUS[intent.status] ?? 'failed');
  return url.href;
}

function page(intent: Intent): string {
  const amount = (intent.amount / 100).toLocaleString('en-US', {
    style: 'currency',
    currency: intent.currency,
  });
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Authenticate your payment</title>
<style>
  body { margin: 0; min-height: 100vh; display: grid; place-items: center; background: #f4f5f7; color: #1d1f24;
    font: 16px/1.5 system-ui, sans-serif }
  main { max-width: 26rem; margin: 16px; padding: 32px; background: #fff; border-radius: 12px; box-shadow: 0 8px 32px #0002 }
  button { display: block; width: 100%; min-height: 48px; margin-top: 12px; border: 1px solid #5b616e; border-radius: 8px;
    background: #fff; font: inherit; font-weight: 600; cursor: pointer }
  button[value=complete] { background: #1f4fbf; border-color: #1f4fbf; color: #fff }
  button:focus-visible { outline: 3px solid #1f4fbf; outline-offset: 2px }
</style>
<main>
  <h1>Authenticate your payment</h1>
  <p>Your bank asks whether this payment of ${amount} is yours. Test mode: no card is charged.</p>
  <form method="post">
    <input type="hidden" name="client_secret" value="${intent.client_secret}">
    <button name="outcome" value="complete">Complete authentication</button>
    <button name="outcome" value="fail">Fail authentication</button>
  </form>
</main>
`;
}
