import { mkdtempSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import Stripe from 'stripe';
import { STRIPE_PUBLISHABLE_KEY, STRIPE_SECRET_KEY, STRIPE_WEBHOOK_SECRET } from '../keys.ts';
import { encodeForm } from './form.ts';
import { type StripeEmulatorOptions, startStripeEmulator } from './server.ts';

/**
 * Returns the official client for an emulator. It does not repeat a call that was answered, so that a test sees every answer.
 * After a cut connection it tries once more, as the client always does.
 */
export function clientOf(url: string): Stripe {
  const { hostname, port } = new URL(url);
  return new Stripe(STRIPE_SECRET_KEY, {
    host: hostname,
    port: Number(port),
    protocol: 'http',
    maxNetworkRetries: 0,
  });
}

/** Starts an emulator for one test. The emulator checks its answers against the published shapes. */
export async function emulate(t: TestContext, options: Partial<StripeEmulatorOptions> = {}) {
  const dataDir = mkdtempSync(join(tmpdir(), 'stripe-emulator-'));
  const emulator = await startStripeEmulator({
    host: '127.0.0.1',
    port: 0,
    dataDir,
    checkAnswers: true,
    ...options,
  });
  t.after(() => emulator.close());
  const stripe = clientOf(emulator.url);
  return {
    url: emulator.url,
    stripe,
    dataDir,
    /** Makes one of the calls by which tests control the emulator (controls.ts). */
    control: async (method: string, path: string, body?: object) => {
      const response = await fetch(`${emulator.url}/_emulator/${path}`, {
        method,
        ...(body && { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      return text === '' ? undefined : JSON.parse(text);
    },
    /** Makes a call as Stripe.js does, with the publishable key. */
    browser: async (method: string, path: string, params: Record<string, unknown>) => {
      const form = encodeForm({ ...params, key: STRIPE_PUBLISHABLE_KEY });
      const url = `${emulator.url}/v1/${path}`;
      const response = await (method === 'GET'
        ? fetch(`${url}?${form}`)
        : fetch(url, { method, body: form }));
      return { status: response.status, body: await response.json() };
    },
  };
}

export const CARDS_ONLY: { currency: string; allowed_payment_method_types: ['card'] } = {
  currency: 'usd',
  allowed_payment_method_types: ['card'],
};

/**
 * The page to which the payer returns after authentication. Stripe requires such a page when a server confirms an on-session
 * payment.
 */
export const RETURN_URL = 'https://society.example/back';

/** The parameters of an intent that is confirmed in the call that creates it. */
export const CONFIRMED: typeof CARDS_ONLY & { confirm: true; return_url: string } = {
  ...CARDS_ONLY,
  confirm: true,
  return_url: RETURN_URL,
};

/** Returns the error with which a call of the client fails. */
export async function errorOf(call: Promise<unknown>): Promise<Stripe.errors.StripeError> {
  const error = await call.then(
    () => undefined,
    (thrown: Stripe.errors.StripeError) => thrown,
  );
  if (!error) throw new Error('the call did not fail');
  return error;
}

/** Receives webhooks, verifies each with the official client, and returns them in the order of arrival. */
export async function receiveWebhooks(t: TestContext, answer: (count: number) => number = () => 200) {
  const events: Stripe.Event[] = [];
  const webhook = { url: '', secret: STRIPE_WEBHOOK_SECRET };
  const waiting: { count: number; resolve: () => void }[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const signature = request.headers['stripe-signature'] as string;
    events.push(Stripe.webhooks.constructEvent(body, signature, webhook.secret, Number.MAX_SAFE_INTEGER));
    response.writeHead(answer(events.length)).end();
    for (const one of waiting) if (events.length >= one.count) one.resolve();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  webhook.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    events,
    types: () => events.map((event) => event.type),
    webhook,
    /** Resolves once `count` webhooks have arrived. */
    arrived: (count: number) =>
      events.length >= count
        ? Promise.resolve()
        : new Promise<void>((resolve) => waiting.push({ count, resolve })),
  };
}
