import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import Fastify from 'fastify';
import Stripe from 'stripe';
import { runLone } from '../../../../tests/harness/runCommand.ts';
import { readConfig } from '../../platform/config/config.ts';
import type { Secrets } from '../../platform/config/secrets.ts';
import { browserCookie } from '../../platform/http/browserCookie.ts';
import { stripeProvider } from '../../providers/stripe/provider.ts';
import { signedLinks } from '../../session/links.ts';
import { sealedPasses } from '../../session/passes.ts';

const OLD = 'o'.repeat(32);
const NEW = 'n'.repeat(32);
const UUID = '5f2d3c1a-0000-4000-8000-000000000001';
const now = () => new Date('2026-11-01T12:00:00Z');

/**
 * A kind of token, cookie or webhook. `make` signs or encrypts one with the given secrets. `accepts` returns whether a server
 * with the given secrets accepts it.
 */
interface Kind {
  make(secrets: Secrets): string | Promise<string>;
  accepts(secrets: Secrets, made: string): Promise<boolean>;
}
const accepted = (read: () => unknown) =>
  Promise.resolve()
    .then(read)
    .then(
      () => true,
      () => false,
    );
const target = { kind: 'init', contactId: '101' } as const;
const event = JSON.stringify({
  id: 'evt_1',
  object: 'event',
  type: 'payment_intent.succeeded',
  created: 1_790_000_000,
  data: { object: { id: 'pi_1', object: 'payment_intent', metadata: {} } },
});

/** Starts a server with two paths: one sets a join's cookie in a browser, the other returns the joins in the browser's cookie. */
function cookieServer(secrets: Secrets) {
  const cookie = browserCookie(secrets, true);
  const app = Fastify();
  app.get('/give', (_, reply) => {
    cookie.giveBegan(reply, UUID);
    return {};
  });
  app.get('/joins', (request) => cookie.joinsOf(request).map(({ uuid }) => uuid));
  return app;
}

const kinds: Record<string, Kind> = {
  'a signed link': {
    make: (secrets) => JSON.stringify(signedLinks(secrets, false, now).sign(target, new Date('2026-12-01'))),
    accepts: (secrets, made) =>
      accepted(() => signedLinks(secrets, false, now).check(target, JSON.parse(made))),
  },
  'a link in a letter': {
    make: (secrets) => sealedPasses(secrets, 'https://a.example', now).address(UUID).split('#')[1]!,
    accepts: (secrets, made) => accepted(() => sealedPasses(secrets, 'https://a.example', now).read(made)),
  },
  "a browser's cookie": {
    async make(secrets) {
      const { headers } = await cookieServer(secrets).inject('/give');
      return String(headers['set-cookie']).split(';')[0]!;
    },
    async accepts(secrets, cookie) {
      const { body } = await cookieServer(secrets).inject({ url: '/joins', headers: { cookie } });
      return body.includes(UUID);
    },
  },
  "Stripe's webhook": {
    make: ([secret]) => Stripe.webhooks.generateTestHeaderString({ payload: event, secret }),
    async accepts(webhookSecrets, signature) {
      const keys = { secretKey: 'sk_test_1', publishableKey: 'pk_test_1' };
      const stripe = stripeProvider({ ...keys, webhookSecrets, url: null, browserUrl: null });
      return (await stripe.readEvent(Buffer.from(event), signature)) !== null;
    },
  },
};

for (const [what, { make, accepts }] of Object.entries(kinds))
  test(`${what} outlives an exchange of secrets, server by server, and not the old secret`, async () => {
    const steps: Secrets[] = [[OLD], [OLD, NEW], [NEW, OLD], [NEW]];
    // During a rollout, two servers may have the settings of neighbouring steps. Each must accept what the other has made.
    for (const [index, making] of steps.entries())
      for (const reading of steps.slice(Math.max(0, index - 1), index + 2))
        assert.ok(await accepts(reading, await make(making)), `${making} to ${reading}`);
    assert.equal(await accepts([NEW], await make([OLD])), false);
    assert.equal(await accepts([OLD], await make([NEW, OLD])), false, 'the first one signs');
  });

const settings = (linkSecret: { LINK_SECRET?: string; LINK_SECRET_ALSO?: string }) =>
  readConfig({
    DATABASE_URL: 'postgres://a.example/induct',
    STRIPE_EMULATOR_URL: 'http://a.example',
    HUBSPOT_EMULATOR_URL: 'http://a.example',
    MAIL: 'elsewhere',
    ...linkSecret,
  });

async function rotate(t: TestContext, linkSecret: Parameters<typeof settings>[0], ...args: string[]) {
  const { code, out } = await runLone(t, settings(linkSecret), 'rotate', args);
  return { code, printed: out.trimEnd() };
}

test('staff are told the steps, each of which is a setting that is accepted', async (t) => {
  const { code, printed } = await rotate(t, { LINK_SECRET: OLD }, 'link-secret');
  assert.equal(code, 0);
  const steps = [
    ...printed.matchAll(
      /^\d\. LINK_SECRET=(?<LINK_SECRET>\w+)(?: LINK_SECRET_ALSO=(?<LINK_SECRET_ALSO>\w+))?/gm,
    ),
  ].map(({ groups }) => settings(JSON.parse(JSON.stringify(groups))).linkSecrets!);
  const next = steps[2]![0];
  assert.deepEqual(steps, [[OLD, next], [next, OLD], [next]]);
  assert.notEqual(next, OLD);
  assert.equal((await rotate(t, { LINK_SECRET: OLD, LINK_SECRET_ALSO: NEW }, 'link-secret')).code, 1);
  assert.equal((await rotate(t, {}, 'link-secret')).code, 1);
  assert.equal((await rotate(t, { LINK_SECRET: OLD }, 'link-secret', 'webhook')).code, 2);
});

test('a secret may have any characters; one on its way is as long, and does not come alone', () => {
  const LINK_SECRET = 'with a comma, and spaces, of 32 and more';
  assert.deepEqual(settings({ LINK_SECRET }).linkSecrets, [LINK_SECRET]);
  assert.throws(() => settings({ LINK_SECRET, LINK_SECRET_ALSO: 'short' }), /at least 32/);
  assert.throws(() => settings({ LINK_SECRET_ALSO: NEW }), /set without LINK_SECRET/);
});
