import type { Dispatcher } from 'undici';
import { readSociety } from '../../apps/server/society/readSociety.ts';
import { type CallName, calls, pathOf } from '../../packages/contract/calls.ts';
import { confirmCard } from '../../tests/harness/providers.ts';
import { societyFile } from '../../tests/harness/standIns.ts';
import { details } from '../../tests/harness/steps.ts';
import { floorCalls } from './floor/calls.ts';

/** Makes a call and records measurements of it. Resolves with the call's answer. */
export type Observe = <Answer>(call: string, make: () => Promise<Answer>) => Promise<Answer>;

/** How to join on a server. The person is derived from `number`, which is different for each join of a benchmark. */
export interface Flow {
  url: string;
  /** Makes the first eight calls, which need no provider, up to an order. Resolves with the session's id. */
  order(browser: Browser, number: number): Promise<string>;
  /** Makes the rest of a join, until the person is a member. */
  pay(browser: Browser, number: number, id: string): Promise<void>;
}
export const ORDER_CALLS = 8;

/** A joiner's browser with its own connection. */
export class Browser {
  readonly #connection: Dispatcher;
  readonly #observe: Observe;
  readonly #headers: Record<string, string> = {};

  constructor(connection: Dispatcher, observe: Observe) {
    this.#connection = connection;
    this.#observe = observe;
  }

  /** Sets the IP address from which the browser's requests seem to come, as a proxy would (X-Forwarded-For). */
  set address(address: string) {
    this.#headers['x-forwarded-for'] = address;
  }

  /** Returns the answer's body. Rejects when the status is 400 or more, since a failed join measures nothing. */
  send(call: string, method: string, path: string, body?: unknown): Promise<string> {
    return this.#observe(call, async () => {
      const answer = await this.#connection.request({
        method,
        path,
        headers:
          body === undefined ? this.#headers : { ...this.#headers, 'content-type': 'application/json' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      const text = await answer.body.text();
      if (answer.statusCode >= 400)
        throw new Error(`${method} ${path}: ${answer.statusCode} ${text.slice(0, 300)}`);
      const cookies = answer.headers['set-cookie'];
      if (cookies) this.#headers.cookie = [cookies].flat().at(-1)!.split(';')[0]!;
      return text;
    });
  }
}

/**
 * These three return the contact id, invite code and email of the person `number`, as `subjects.ts` writes them into the
 * database.
 */
export const contactIdOf = (number: number) => String(5_000_000_000 + number);
export const inviteCodeOf = (number: number) => `BENCH${number}`;
export const emailOf = (number: number) => `person${number}@example.com`;

/**
 * Returns the IP address of a joiner. Ten joins share an address, as in a family or a class. If all joins had the same address,
 * the rate limits would refuse them.
 */
function addressOf(number: number): string {
  const host = Math.floor(number / 10);
  return `10.${(host >> 16) & 255}.${(host >> 8) & 255}.${host & 255}`;
}

/** Returns what a joiner of the default programme buys: its default membership and the first donation on offer. */
function bought() {
  const society = readSociety(societyFile);
  const membership = society.product(society.programme(society.defaultProgramme).defaultMembership)!;
  const donation = society.catalogue.find(({ type }) => type === 'donation')!;
  const amount = membership.priceCents! + donation.priceCents!;
  return { membershipId: membership.id, productUuid: donation.uuid, amount };
}

/**
 * The ten calls of a join on Induct's server. Between opening the intent and reporting the payment, this flow also does what the
 * page does: it begins the payment, and confirms the card at Stripe, as Stripe's script does.
 */
export function ourFlow(url: string, stripeUrl: string): Flow {
  const { membershipId, productUuid, amount } = bought();
  const filledIn = { ...details(), isTOLA: true };
  const ask = async <Data>(browser: Browser, name: CallName, uuid: string, body?: object): Promise<Data> => {
    const text = await browser.send(name, calls[name].method, pathOf(name, { uuid }), body);
    return (JSON.parse(text) as { data: Data }).data;
  };
  return {
    url,
    async order(browser, number) {
      browser.address = addressOf(number);
      const code = { invitationCode: inviteCodeOf(number), isTOLA: true };
      await ask(browser, 'checkEligibility', '', code);
      const contactId = contactIdOf(number);
      const { uuid } = await ask<{ uuid: string }>(browser, 'initiateJoin', '', { ...code, contactId });
      await ask(browser, 'getContact', uuid);
      await ask(browser, 'submitDetails', uuid, { ...filledIn, personalEmail: emailOf(number) });
      await ask(browser, 'getMembershipDetails', uuid);
      await ask(browser, 'setMembership', uuid, { membershipId });
      await ask(browser, 'getCheckoutDetails', uuid);
      await ask(browser, 'setSessionProduct', uuid, { productUuid });
      return uuid;
    },
    async pay(browser, number, uuid) {
      const wanted = { amount, currency: 'usd', billingEmail: emailOf(number) };
      const { clientSecret, revision } = await ask<{ clientSecret: string; revision: number }>(
        browser,
        'createPaymentIntent',
        uuid,
        wanted,
      );
      const paymentIntent = clientSecret.split('_secret_')[0]!;
      await ask(browser, 'beginPayment', uuid, { revision });
      await confirmCard(stripeUrl, paymentIntent, `${url}/registration/post-payment`);
      const { status } = await ask<{ status: string }>(browser, 'postPayment', uuid, {
        paymentIntent,
        paymentIntentClientSecret: clientSecret,
        redirectStatus: 'succeeded',
      });
      if (status !== 'succeeded') throw new Error(`A payment came back as ${status}.`);
    },
  };
}

/** The ten calls of a join to the minimal server (floor/server.ts). */
export function floorFlow(url: string): Flow {
  return {
    url,
    async order(browser, number) {
      let id = `new${number}@example.org`;
      for (const { name, method, path, body } of floorCalls.slice(0, ORDER_CALLS)) {
        const sent = method === 'GET' ? undefined : body;
        const text = await browser.send(name, method, path.replace(':id', id), sent);
        if (name === 'initiateJoin') id = (JSON.parse(text) as { rows: [{ id: string }] }).rows[0].id;
      }
      return id;
    },
    async pay(browser, _, id) {
      for (const { name, method, path, body } of floorCalls.slice(ORDER_CALLS))
        await browser.send(name, method, path.replace(':id', id), body);
    },
  };
}
