import Fastify from 'fastify';
import pg from 'pg';
import { type StatementName, statements } from './statements.ts';

/**
 * The floor: a bare Fastify server that does for a join what no server can leave out, and nothing else: no validation, no
 * log, no limit, no check of a state. As a process: DATABASE_URL from the environment; once it listens, its parent gets
 * `{ listening: url }` as a message.
 */
interface Details {
  firstName: string;
  lastName: string;
  phone: string;
  dob: string;
  address: object;
}

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 10 });
const run = async (name: StatementName, values: unknown[]) =>
  (await pool.query({ name, text: statements[name], values })).rows;

const app = Fastify({ logger: false });
const done = { ok: true };
type Id = { Params: { id: string } };

app.get<{ Querystring: { email: string } }>('/eligibility', async ({ query }) => ({
  eligible: (await run('eligibility', [query.email])).length === 0,
}));
app.post<{ Body: { email: string } }>('/join', async ({ body }) => (await run('initiate', [body.email]))[0]);
app.get<Id>('/join/:id/contact', async ({ params }) => (await run('contact', [params.id]))[0]);
app.put<Id & { Body: Details }>('/join/:id/details', async ({ params, body }) => {
  const { firstName, lastName, phone, dob, address } = body;
  await run('details', [params.id, firstName, lastName, phone, dob, JSON.stringify(address)]);
  return done;
});
app.get<Id>('/join/:id/membership', () => run('membership', []));
app.put<Id & { Body: { productId: number } }>('/join/:id/membership', async ({ params, body }) => {
  await run('setMembership', [params.id, body.productId]);
  return done;
});
app.get<Id>('/join/:id/checkout', async ({ params }) => {
  const [sessions, products] = await Promise.all([
    run('checkoutSession', [params.id]),
    run('checkoutProducts', [params.id]),
  ]);
  return { session: sessions[0], products };
});
app.put<Id & { Body: { productId: number; amount: number } }>(
  '/join/:id/product',
  async ({ params, body }) => {
    await run('addProduct', [params.id, body.productId, body.amount]);
    return done;
  },
);
app.post<Id & { Body: { amount: number } }>('/join/:id/payment-intent', async ({ params, body }) => {
  const intent = `pi_${params.id}`;
  await run('intent', [params.id, intent, body.amount]);
  return { intent };
});
app.post<Id>('/join/:id/post-payment', async ({ params }) => {
  await run('postPayment', [params.id]);
  return done;
});

const url = await app.listen({ host: '127.0.0.1', port: 0 });
process.send?.({ listening: url });
const stop = async () => {
  await app.close();
  await pool.end();
  process.exit(0);
};
for (const event of ['SIGTERM', 'SIGINT', 'disconnect'] as const) process.once(event, () => void stop());
