interface FloorCall {
  name: string;
  method: 'GET' | 'POST' | 'PUT';
  /** `:id` is the session's id or, before there is a session, the joiner's email. */
  path: string;
  body: Record<string, unknown>;
  /** `$1` is the id; `$2` and so on are the body's values in their order. */
  statements: readonly string[];
}

const call = (
  name: string,
  route: `${FloorCall['method']} ${string}`,
  body: Record<string, unknown>,
  ...statements: string[]
): FloorCall => {
  const [method, path] = route.split(' ') as [FloorCall['method'], string];
  return { name, method, path, body, statements };
};

const person = { firstName: 'Ada', lastName: 'Lovelace', phone: '+44 20 7946 0000', dob: '1990-01-02' };
const address = { line1: '1 High St', city: 'London', postcode: 'SW1A 1AA', country: 'GB' };

/** The ten calls of a join and their eleven statements: the fewest that any implementation needs. */
export const floorCalls: readonly FloorCall[] = [
  call('checkEligibility', 'GET /eligibility/:id', {}, 'SELECT id, member FROM contact WHERE email = $1'),
  call('initiateJoin', 'POST /join/:id', {}, 'INSERT INTO join_session(email) VALUES ($1) RETURNING id'),
  call(
    'getContact',
    'GET /join/:id/contact',
    {},
    'SELECT id, email, status, first_name, last_name FROM join_session WHERE id = $1',
  ),
  call(
    'submitDetails',
    'PUT /join/:id/details',
    { ...person, address },
    `UPDATE join_session SET first_name = $2, last_name = $3, phone = $4, dob = $5, address = $6,
     status = 'details', updated_at = now() WHERE id = $1`,
  ),
  call(
    'getMembershipDetails',
    'GET /join/:id/membership',
    {},
    "SELECT id, name, price_cents FROM product WHERE kind = 'membership' AND active",
  ),
  call(
    'setMembership',
    'PUT /join/:id/membership',
    { productId: 1 },
    "UPDATE join_session SET membership_product_id = $2, status = 'membership', updated_at = now() WHERE id = $1",
  ),
  call(
    'getCheckoutDetails',
    'GET /join/:id/checkout',
    {},
    `SELECT s.id, s.status, s.email, p.name, p.price_cents
     FROM join_session s LEFT JOIN product p ON p.id = s.membership_product_id WHERE s.id = $1`,
    'SELECT product_id, qty, amount_cents FROM session_product WHERE session_id = $1',
  ),
  call(
    'setSessionProduct',
    'PUT /join/:id/product',
    { productId: 4, amount: 500 },
    `INSERT INTO session_product(session_id, product_id, qty, amount_cents) VALUES ($1, $2, 1, $3)
     ON CONFLICT (session_id, product_id) DO UPDATE SET amount_cents = EXCLUDED.amount_cents`,
  ),
  call(
    'createPaymentIntent',
    'POST /join/:id/payment-intent',
    { amount: 3000 },
    `INSERT INTO payment(session_id, intent_id, amount_cents, status) VALUES ($1::uuid, 'pi_' || $1::text, $2, 'requires_confirmation')
     ON CONFLICT (session_id) DO UPDATE
     SET intent_id = EXCLUDED.intent_id, amount_cents = EXCLUDED.amount_cents, updated_at = now()`,
  ),
  call(
    'postPayment',
    'POST /join/:id/post-payment',
    {},
    "UPDATE payment SET status = 'succeeded', updated_at = now() WHERE session_id = $1",
  ),
];
