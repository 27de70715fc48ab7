/** The eleven statements of one join: what any implementation has to ask of its database. Two belong to one call. */
export const statements = {
  eligibility: 'SELECT id, member FROM contact WHERE email = $1',
  initiate: 'INSERT INTO join_session(email) VALUES ($1) RETURNING id',
  contact: 'SELECT id, email, status, first_name, last_name FROM join_session WHERE id = $1',
  details: `UPDATE join_session SET first_name = $2, last_name = $3, phone = $4, dob = $5, address = $6,
    status = 'details', updated_at = now() WHERE id = $1`,
  membership: "SELECT id, name, price_cents FROM product WHERE kind = 'membership' AND active",
  setMembership: `UPDATE join_session SET membership_product_id = $2, status = 'membership', updated_at = now()
    WHERE id = $1`,
  checkoutSession: `SELECT s.id, s.status, s.email, p.name, p.price_cents
    FROM join_session s LEFT JOIN product p ON p.id = s.membership_product_id WHERE s.id = $1`,
  checkoutProducts: 'SELECT product_id, qty, amount_cents FROM session_product WHERE session_id = $1',
  addProduct: `INSERT INTO session_product(session_id, product_id, qty, amount_cents) VALUES ($1, $2, 1, $3)
    ON CONFLICT (session_id, product_id) DO UPDATE SET amount_cents = EXCLUDED.amount_cents`,
  intent: `INSERT INTO payment(session_id, intent_id, amount_cents, status) VALUES ($1, $2, $3, 'requires_confirmation')
    ON CONFLICT (session_id) DO UPDATE
    SET intent_id = EXCLUDED.intent_id, amount_cents = EXCLUDED.amount_cents, updated_at = now()`,
  postPayment: "UPDATE payment SET status = 'succeeded', updated_at = now() WHERE session_id = $1",
} as const;

export type StatementName = keyof typeof statements;
