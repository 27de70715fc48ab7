import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type Stripe from 'stripe';
import { webhookEvents } from '../../apps/server/providers/stripe/webhookEvents.ts';
import { STRIPE_WEBHOOK_SECRET } from '../../emulators/keys.ts';
import { signature } from '../../emulators/stripe/webhooks.ts';
import type { Join } from './plan.ts';
import type { Server } from './servers.ts';

/**
 * The waits before an undelivered webhook is sent again (ms). The real Stripe retries for three days, which is longer than a run.
 */
const WAITS = [250, 500, 1000, 2000, 4000];
/** How long the events of a join are collected before they are delivered in reverse order (ms). */
const COLLECT_MS = 1200;

export interface WebhookCounts {
  delivered: number;
  lost: number;
  late: number;
  doubled: number;
  reordered: number;
  forged: number;
}

/** A proxy between Stripe and our servers that treats the webhooks of each join as the join's plan says. */
export interface Webhooks {
  url: string;
  secret: string;
  counts: WebhookCounts;
  /** A text for each answer that our servers should never give. */
  complaints: string[];
  /** Resolves when no webhook is on its way. */
  idle(): Promise<void>;
  /**
   * Delivers now the webhooks that the plan makes late, and those that no server has accepted. Signs each anew, as Stripe does
   * for every retry.
   */
  flushLate(): Promise<void>;
  close(): Promise<void>;
}

export async function startWebhooks(options: {
  to: () => readonly Pick<Server, 'url' | 'wasBroken'>[];
  /** Returns how the plan treats the webhooks of a session; undefined when they are to be delivered normally. */
  modeOf: (uuid: string) => Join['webhooks'] | undefined;
}): Promise<Webhooks> {
  const counts: WebhookCounts = { delivered: 0, lost: 0, late: 0, doubled: 0, reordered: 0, forged: 0 };
  const complaints: string[] = [];
  const late: Stripe.Event[] = [];
  const collected = new Map<string, Stripe.Event[]>();
  const sessionOf = new Map<string, string>();
  const underWay = new Set<Promise<void>>();
  let turn = 0;

  const follow = (work: Promise<void>) => {
    const watched: Promise<void> = work.finally(() => underWay.delete(watched));
    underWay.add(watched);
  };

  /** Posts a payload and returns the answer's status; 0 when there was no complete answer. */
  async function post(payload: string, signed: string): Promise<number> {
    const servers = options.to();
    const server = servers[turn++ % servers.length]!;
    try {
      const response = await fetch(`${server.url}/api/webhooks/stripe`, {
        method: 'POST',
        headers: { 'content-type': 'application/json; charset=utf-8', 'stripe-signature': signed },
        body: payload,
        signal: AbortSignal.timeout(15_000),
      });
      await response.arrayBuffer();
      return response.status;
    } catch {
      return 0;
    }
  }

  async function deliver(event: Stripe.Event): Promise<void> {
    const payload = JSON.stringify(event);
    for (const wait of [...WAITS, null]) {
      const status = await post(payload, signature(payload, STRIPE_WEBHOOK_SECRET, now()));
      if (status >= 200 && status < 300) {
        counts.delivered++;
        return;
      }
      if (status === 500) complaints.push(`webhook ${event.type} of ${sessionIn(event)} was answered 500`);
      if (wait !== null) await pause(wait);
    }
    late.push(event);
  }

  /** Sends forged webhooks, as an attacker who knows the address but not the secret. Our servers must refuse each. */
  async function forge(made: Stripe.Event): Promise<void> {
    const intent = made.data.object as Stripe.PaymentIntent;
    const forged = JSON.stringify({
      ...made,
      id: `${made.id}forged`,
      type: 'payment_intent.succeeded',
      data: { object: { ...intent, status: 'succeeded', amount_received: intent.amount } },
    });
    const genuine = JSON.stringify(made);
    const signatures = {
      'another secret': signature(forged, 'whsec_forged', now()),
      'the signature of another event': signature(genuine, STRIPE_WEBHOOK_SECRET, now()),
      'a signature of yesterday': signature(forged, STRIPE_WEBHOOK_SECRET, now() - 86_400),
      'no signature': '',
    };
    for (const [how, signed] of Object.entries(signatures)) {
      counts.forged++;
      const status = await post(forged, signed);
      if (status >= 200 && status < 300)
        complaints.push(`an event forged with ${how} was taken, about ${intent.id}`);
    }
  }

  function sessionIn({ data }: Stripe.Event): string | undefined {
    const object = data.object as {
      id: string;
      object: string;
      payment_intent?: string | null;
      metadata?: Record<string, string> | null;
    };
    const intentId = object.object === 'payment_intent' ? object.id : object.payment_intent;
    const session = object.metadata?.session ?? sessionOf.get(intentId ?? '');
    if (session && intentId) sessionOf.set(intentId, session);
    return session;
  }

  function take(event: Stripe.Event): void {
    const session = sessionIn(event);
    const mode = (session && options.modeOf(session)) ?? 'deliver';
    if (mode === 'forged' && event.type === 'payment_intent.created') follow(forge(event));
    if (!(webhookEvents as readonly string[]).includes(event.type)) return;
    switch (mode) {
      case 'lost':
        counts.lost++;
        return;
      case 'late':
        counts.late++;
        late.push(event);
        return;
      case 'doubled':
        counts.doubled++;
        follow(deliver(event));
        follow(deliver(event));
        return;
      case 'reordered':
        counts.reordered++;
        collect(session!, event);
        return;
      default:
        follow(deliver(event));
    }
  }

  /** Collects a session's events, to deliver the newest first. */
  function collect(session: string, event: Stripe.Event): void {
    const waiting = collected.get(session);
    if (waiting) {
      waiting.push(event);
      return;
    }
    const batch = [event];
    collected.set(session, batch);
    follow(
      pause(COLLECT_MS).then(async () => {
        collected.delete(session);
        for (const one of batch.reverse()) await deliver(one);
      }),
    );
  }

  const receiver = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    response.writeHead(200).end();
    take(JSON.parse(body) as Stripe.Event);
  });
  await new Promise<void>((done) => receiver.listen(0, '127.0.0.1', done));

  const idle = async () => {
    while (underWay.size > 0) await Promise.all(underWay);
  };
  return {
    url: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`,
    secret: STRIPE_WEBHOOK_SECRET,
    counts,
    complaints,
    idle,
    async flushLate() {
      for (const event of late.splice(0)) await deliver(event);
      await idle();
    },
    async close() {
      receiver.closeAllConnections();
      await new Promise((done) => receiver.close(done));
    },
  };
}

function now(): number {
  return Math.floor(Date.now() / 1000);
}
