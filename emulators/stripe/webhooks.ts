import { createHmac } from 'node:crypto';
import type { WebhookEndpoint } from './account.ts';
import type { Store } from './store.ts';

/**
 * How the webhooks of new events are delivered. The modes other than `deliver` imitate a faulty network or an outage. `hold` and
 * `reverse` keep the webhooks until {@link Webhooks.flush}, which in mode `reverse` sends the newest first. `drop` never sends
 * them, `duplicate` sends each twice, and `delay` sends them after a time.
 */
export type WebhookMode = 'deliver' | 'hold' | 'drop' | 'duplicate' | 'reverse' | 'delay';
export const WEBHOOK_MODES: readonly string[] = ['deliver', 'hold', 'drop', 'duplicate', 'reverse', 'delay'];

/** The timeout for the receiver's answer (ms). */
const TIMEOUT = 20_000;
/** The wait before the first retry (ms). It doubles with each retry, up to LONGEST_WAIT. */
const FIRST_WAIT = 1_000;
const LONGEST_WAIT = 300_000;

interface Delivery {
  seq: number;
  event: string;
  url: string;
  secret: string;
  attempts: number;
}

export interface WebhookTarget {
  url: string;
  secret: string;
}

/**
 * Sends signed events: every event to the configured receiver, and to each registered endpoint the events that it subscribed to.
 * Retries a delivery with growing delays until the receiver answers 2xx. Pending deliveries are rows in the database, so they
 * survive a restart.
 */
export class Webhooks {
  readonly #store: Store;
  readonly #target: WebhookTarget | undefined;
  readonly #clock: () => number;
  #timer: NodeJS.Timeout | undefined;
  #sending: Promise<void> = Promise.resolve();
  readonly #closing = new AbortController();

  constructor(store: Store, target: WebhookTarget | undefined, clock: () => number) {
    this.#store = store;
    this.#target = target;
    this.#clock = clock;
  }

  get mode(): WebhookMode {
    return (this.#store.setting('webhooks') as WebhookMode | undefined) ?? 'deliver';
  }

  /**
   * Sets the mode for new events. `delay` (ms) is used in the mode `delay` only. Events that are held since an earlier mode stay
   * held, even in mode `deliver`, until {@link flush} sends them.
   */
  setMode(mode: WebhookMode, delay = 0): void {
    this.#store.setSetting('webhooks', mode);
    this.#store.setSetting('webhook delay', String(delay));
  }

  /**
   * Adds a pending delivery for each new event and each receiver that should get it. Runs in the transaction that records the
   * events, so that no delivery can be lost.
   */
  owe(): void {
    const from = Number(this.#store.setting('webhooks owed') ?? 0);
    const events = this.#store.database
      .prepare(
        "select seq, id, json_extract(body, '$.type') as type from object where kind = 'event' and seq > ? order by seq",
      )
      .all(from) as { seq: number; id: string; type: string }[];
    if (events.length === 0) return;
    const { mode } = this;
    const due = this.#clock() + (mode === 'delay' ? Number(this.#store.setting('webhook delay')) : 0);
    const state = mode === 'hold' || mode === 'reverse' ? 'held' : mode === 'drop' ? 'dropped' : 'waiting';
    const insert = this.#store.database.prepare(
      'insert into delivery (event, url, secret, due, state) values (?, ?, ?, ?, ?)',
    );
    for (const event of events) {
      for (const target of this.#targetsOf(event.type)) {
        insert.run(event.id, target.url, target.secret, due, state);
        if (mode === 'duplicate') insert.run(event.id, target.url, target.secret, due, state);
      }
    }
    this.#store.setSetting('webhooks owed', String(events.at(-1)!.seq));
  }

  #targetsOf(type: string): WebhookTarget[] {
    const endpoints = this.#store.select('webhook_endpoint', [], -1) as unknown as WebhookEndpoint[];
    const wanting = endpoints.filter(
      ({ status, enabled_events: enabled }) =>
        status === 'enabled' && (enabled.includes('*') || enabled.includes(type)),
    );
    const registered = wanting.map(({ id, url }) => ({
      url,
      secret: this.#store.hidden<{ secret: string }>(id).secret!,
    }));
    return this.#target ? [this.#target, ...registered] : registered;
  }

  /** Sends the deliveries that are due, and later ones when they become due. Returns immediately. */
  run(): void {
    if (this.#closing.signal.aborted) return;
    clearTimeout(this.#timer);
    this.#sending = this.#sending.then(() => this.#sendDue()).then(() => this.#sleep());
  }

  /** Sends every pending delivery, even one that is held or not yet due; in mode `reverse` the newest first. */
  async flush(): Promise<{ sent: number; failed: number }> {
    const order = this.mode === 'reverse' ? 'desc' : 'asc';
    await this.#sending;
    const rows = this.#rows(`state in ('waiting', 'held') order by seq ${order}`);
    let sent = 0;
    for (const delivery of rows) if (await this.#send(delivery)) sent += 1;
    this.run();
    return { sent, failed: rows.length - sent };
  }

  /** Resolves when nothing is being sent. */
  async idle(): Promise<void> {
    await this.#sending;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    clearTimeout(this.#timer);
    await this.#sending;
  }

  async #sendDue(): Promise<void> {
    for (const delivery of this.#rows("state = 'waiting' and due <= ? order by due, seq", this.#clock())) {
      if (this.#closing.signal.aborted) return;
      await this.#send(delivery);
    }
  }

  #sleep(): void {
    if (this.#closing.signal.aborted) return;
    clearTimeout(this.#timer);
    const next = this.#store.database
      .prepare("select min(due) as due from delivery where state = 'waiting'")
      .get();
    if (typeof next?.due !== 'number') return;
    const wait = Math.min(Math.max(next.due - this.#clock(), 0), LONGEST_WAIT);
    this.#timer = setTimeout(() => this.run(), wait);
    this.#timer.unref();
  }

  #rows(condition: string, ...values: number[]): Delivery[] {
    const sql = `select seq, event, url, secret, attempts from delivery where ${condition}`;
    return this.#store.database.prepare(sql).all(...values) as unknown as Delivery[];
  }

  async #send({ seq, event, url, secret, attempts }: Delivery): Promise<boolean> {
    const payload = JSON.stringify({ ...this.#store.find(event), pending_webhooks: 1 }, null, 2);
    const accepted = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json; charset=utf-8',
        'stripe-signature': signature(payload, secret, Math.floor(this.#clock() / 1000)),
        'user-agent': 'Stripe/1.0 (+https://stripe.com/docs/webhooks)',
      },
      body: payload,
      redirect: 'manual',
      signal: AbortSignal.any([AbortSignal.timeout(TIMEOUT), this.#closing.signal]),
    }).then(
      async (response) => {
        await response.body?.cancel();
        return response.ok;
      },
      () => false,
    );
    const due = this.#clock() + Math.min(FIRST_WAIT * 2 ** attempts, LONGEST_WAIT);
    this.#store.database
      .prepare('update delivery set attempts = attempts + 1, state = ?, due = ? where seq = ?')
      .run(accepted ? 'delivered' : 'waiting', due, seq);
    return accepted;
  }
}

/** Returns the `Stripe-Signature` of a payload (https://docs.stripe.com/webhooks/signature). `time` is in seconds. */
export function signature(payload: string, secret: string, time: number): string {
  const digest = createHmac('sha256', secret).update(`${time}.${payload}`).digest('hex');
  return `t=${time},v1=${digest}`;
}
