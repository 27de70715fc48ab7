import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { sql } from 'kysely';
import type { CallName } from '#contract/calls.ts';
import { catchUpOnEvents } from '../../apps/server/books/catchUp.ts';
import { sweepPayments, sweepRefunds } from '../../apps/server/books/sweep.ts';
import { deliver, newContact } from './deliver.ts';
import { listContacts } from './providers.ts';
import { runCommand } from './runCommand.ts';
import { type Client, startTestServer, type TestServer } from './testServer.ts';

/** The email addresses of the one or two people in a {@link Walk}. */
export const EMAILS = ['walker@walk.example.com', 'other@walk.example.com'] as const;
/**
 * The state of the invited person in HubSpot when a {@link Walk} begins: no contact (`nobody`), or a contact with this status.
 * The empty text is a contact without a status.
 */
export const invitations = ['nobody', '', 'prospect', 'former'] as const;
/**
 * The number of rounds of due work. One round is not enough, since work may make other work due: for example, a refund makes an
 * event.
 */
const ROUNDS_UNTIL_QUIET = 3;

export interface Join {
  uuid: string;
  client: Client;
  /** Whether an invitation or a signed link named the join's contact. */
  isInvited: boolean;
  /** The intent for which the payment form was last opened. */
  intent?: { id: string; clientSecret: string };
}

/** Random numbers that decide what a step does, one number for each decision. */
export class Choices {
  readonly #numbers: number[];

  constructor(numbers: readonly number[]) {
    this.#numbers = [...numbers];
  }

  of<const T>(list: readonly [T, ...T[]]): T;
  of<T>(list: readonly T[]): T | undefined;
  of<T>(list: readonly T[]): T | undefined {
    return list[this.#next() % list.length];
  }

  /** Returns true with a probability of `tenths` / 10. */
  inTenths(tenths: number): boolean {
    return this.#next() % 10 >= 10 - tenths;
  }

  #next(): number {
    return this.#numbers.shift() ?? 0;
  }
}

/**
 * A test by random steps (walkSteps.ts). It has a server, and one or two people who use the server and share emails, contacts,
 * browsers and invitations.
 */
export class Walk {
  readonly joins: Join[] = [];
  /** The invited contacts, each with its code. */
  readonly invited: { code: string; email: string }[] = [];
  /** What has happened so far, to explain a failed walk. */
  readonly story: string[] = [];
  readonly server: TestServer;
  readonly browsers: readonly Client[];
  readonly #t: TestContext;

  private constructor(t: TestContext, server: TestServer) {
    this.#t = t;
    this.server = server;
    this.browsers = [this.#browser(), this.#browser(), this.#browser()];
  }

  /**
   * Starts a walk. `known` has, for each of the {@link EMAILS}, the status of its contact in HubSpot. The caller closes the
   * walk's server.
   */
  static async start(t: TestContext, known: readonly (typeof invitations)[number][]): Promise<Walk> {
    const walk = new Walk(t, await startTestServer({}, { hubspotLimits: 'off', searchLagMs: 0 }));
    for (const [index, email] of EMAILS.entries()) {
      if (known[index] === 'nobody') continue;
      const code = `WALKER${index}`;
      const properties = {
        firstname: 'Ada',
        lastname: 'Walker',
        personal_email: email,
        invitation_code: code,
      };
      await newContact(walk.server, email, { ...properties, membership_status: known[index]! });
      walk.invited.push({ code, email });
    }
    return walk;
  }

  get database() {
    return this.server.background;
  }

  note(what: string): void {
    this.story.push(`    ${what}`);
  }

  /** Runs a staff command, as it is typed after `npm run operator --`. */
  async staffRun(typed: string): Promise<void> {
    const { out, code } = await runCommand(this.#t, this.server, typed, []);
    this.note(`${typed}: ${code} ${out.trim()}`);
  }

  /** Returns the payments in our database, the oldest first. */
  async payments(): Promise<{ id: string; status: string; cents: number }[]> {
    const payments = await sql<{ id: string; status: string; cents: number }>`
      select intent_id as id, status, amount_cents as cents from payment order by created_at`.execute(
      this.database,
    );
    return payments.rows;
  }

  /** Returns HubSpot's contacts of these people. */
  async contacts(): Promise<{ id: string; status: string | null }[]> {
    const all = await listContacts(this.server.hubspotUrl, ['email', 'personal_email', 'membership_status']);
    return all
      .filter(({ properties: { email, personal_email: personal } }) =>
        EMAILS.some((one) => one === email || one === personal),
      )
      .map(({ id, properties }) => ({ id, status: properties.membership_status || null }));
  }

  async listAtStripe(kind: 'disputes' | 'refunds'): Promise<{ id: string; status: string }[]> {
    const { body } = await this.server.stripe('GET', `/v1/${kind}?limit=100`);
    return (body as unknown as { data?: { id: string; status: string }[] }).data ?? [];
  }

  /** Does the background work on payments, refunds and Stripe's events that would be due within the next three days. */
  async workInBackground(): Promise<void> {
    const { database } = this;
    await sql`update schedule set due_at = now() - interval '1 second'`.execute(database);
    await sql`
      update payment set checked_at = now() - interval '3 days', looked_at = null where status = 'open'`.execute(
      database,
    );
    await sql`update refund set next_try_at = now() where status = 'due'`.execute(database);
    await sql`update event_retry set next_try_at = now()`.execute(database);
    const work = { ...this.server.deps, database };
    await catchUpOnEvents(work);
    await sweepRefunds(work);
    await sweepPayments(work);
  }

  /** Removes the faults of Stripe and HubSpot, lets pending refunds succeed, and does all due work, in several rounds. */
  async becomeQuiet(): Promise<void> {
    const { server } = this;
    await server.stripeFault(null);
    await server.hubspotFault(null);
    await server.stripeControl('refunds', { answer: 'succeeded' });
    // Makes open payments three days old, so that the server cancels them. While a join has an open payment, it stays with its
    // contact, even if that contact was merged into another one.
    await sql`update payment set created_at = created_at - interval '3 days' where status = 'open'`.execute(
      this.database,
    );
    for (let round = 0; round < ROUNDS_UNTIL_QUIET; round++) {
      await this.workInBackground();
      for (const { id, status } of await this.listAtStripe('refunds'))
        if (status === 'pending') await server.stripeControl(`refunds/${id}/settle`, { status: 'succeeded' });
      for (const { id } of await this.contacts()) await server.deps.contacts.refresh(id);
      await deliver(server);
    }
  }

  /** Returns a browser that records its calls, and asserts that the server never answers 500, even while the providers fail. */
  #browser(): Client {
    const client = this.server.client();
    return {
      cookie: client.cookie,
      fetch: client.fetch,
      call: async <Name extends CallName>(name: Name, options?: Parameters<Client['call']>[1]) => {
        const answer = await client.call(name, options);
        this.note(`${name} ${options?.params?.uuid ?? ''} ${answer.status} ${answer.message ?? ''}`);
        assert.notEqual(answer.status, 500, `${name} answered 500`);
        return answer;
      },
    };
  }
}
