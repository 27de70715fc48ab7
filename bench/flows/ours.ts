import { type CallName, calls, pathOf } from '#contract/calls.ts';
import { details } from '../../apps/server/testing/steps.ts';
import { Connection } from '../load/connection.ts';
import type { Join, Step } from './flow.ts';

/** What the joiner buys, and where the card is paid. */
export interface OurSettings {
  membershipId: number;
  donationUuid: string;
  /** What membership and donation cost together (cents). */
  amountCents: number;
  /** The stand-in for Stripe. */
  stripe: { url: string; secretKey: string };
}

const filledIn = { ...details(), isTOLA: true };

/** Contacts and codes of the people who join, as `people.ts` writes them into the database. */
export const contactIdOf = (number: number) => String(5_000_000_000 + number);
export const inviteCodeOf = (number: number) => `BENCH${number}`;
export const emailOf = (number: number) => `person${number}@example.com`;

/** So many joins are seen to come from one address, as from a family or a class. */
export const JOINS_PER_ADDRESS = 10;
export function addressOf(number: number): string {
  const host = Math.floor(number / JOINS_PER_ADDRESS);
  return `10.${(host >> 16) & 255}.${(host >> 8) & 255}.${host & 255}`;
}

/**
 * The ten calls of a join, and between the intent and the return what the page does: it begins the payment (`begin`), and
 * the provider's script confirms the card (`card`, which does not speak to the server).
 */
export function ourSteps({ membershipId, donationUuid, amountCents, stripe }: OurSettings): Step[] {
  const pays = cardPayer(stripe);
  return [
    {
      name: 'eligibility',
      run: (join) =>
        send(join, 'checkEligibility', { invitationCode: inviteCodeOf(join.number), isTOLA: true }),
    },
    {
      name: 'initiate',
      async run(join) {
        const body = {
          contactId: contactIdOf(join.number),
          invitationCode: inviteCodeOf(join.number),
          isTOLA: true,
        };
        join.id = (await ask<{ uuid: string }>(join, 'initiateJoin', body)).uuid;
      },
    },
    { name: 'contact', run: (join) => send(join, 'getContact') },
    {
      name: 'details',
      run: (join) => send(join, 'submitDetails', { ...filledIn, personalEmail: emailOf(join.number) }),
    },
    { name: 'memberships', run: (join) => send(join, 'getMembershipDetails') },
    { name: 'membership', run: (join) => send(join, 'setMembership', { membershipId }) },
    { name: 'checkout', run: (join) => send(join, 'getCheckoutDetails') },
    { name: 'product', run: (join) => send(join, 'setSessionProduct', { productUuid: donationUuid }) },
    {
      name: 'intent',
      async run(join) {
        const body = { amount: amountCents, currency: 'usd', billingEmail: emailOf(join.number) };
        const { clientSecret, revision } = await ask<{ clientSecret: string; revision: number }>(
          join,
          'createPaymentIntent',
          body,
        );
        join.intent = { id: clientSecret.split('_secret_')[0]!, clientSecret, revision };
      },
    },
    { name: 'begin', run: (join) => send(join, 'beginPayment', { revision: join.intent!.revision }) },
    { name: 'card', run: pays },
    {
      name: 'return',
      run: (join) =>
        send(join, 'postPayment', {
          paymentIntent: join.intent!.id,
          paymentIntentClientSecret: join.intent!.clientSecret,
          redirectStatus: 'succeeded',
        }),
    },
  ];
}

async function send(join: Join, name: CallName, body?: unknown): Promise<string> {
  const path = pathOf(name, { uuid: join.id });
  const reply = await (calls[name].method === 'GET' ? join.browser.get(path) : join.browser.post(path, body));
  return reply.body;
}

async function ask<Data>(join: Join, name: CallName, body: unknown): Promise<Data> {
  return (JSON.parse(await send(join, name, body)) as { data: Data }).data;
}

/** Confirms an intent with a card, as the provider's script does in the browser. */
function cardPayer({ url, secretKey }: OurSettings['stripe']): Step['run'] {
  const idle: Connection[] = [];
  return async ({ intent }) => {
    const connection = idle.pop() ?? new Connection(url);
    const form = new URLSearchParams({ payment_method: 'pm_card_visa', return_url: `${url}/return` });
    const headers = `authorization: Bearer ${secretKey}\r\ncontent-type: application/x-www-form-urlencoded\r\n`;
    const reply = await connection.request(
      'POST',
      `/v1/payment_intents/${intent!.id}/confirm`,
      headers,
      String(form),
    );
    if (reply.status !== 200)
      throw new Error(`the card was not taken: ${reply.status} ${reply.body.slice(0, 300)}`);
    idle.push(connection);
  };
}
