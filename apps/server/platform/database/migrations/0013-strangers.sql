-- When Stripe was last asked about an open intent because somebody wanted to know, and what it said to the question of
-- that time: apps/server/payments/lookAtPayment.ts asks at most once a second, whoever wants to know and how often.
alter table payment
  add looked_at timestamptz,
  add seen_status text,
  add seen_at timestamptz;

-- A contact that a signed link named before HubSpot could be asked: when to ask. Null once HubSpot has answered.
alter table contact add fill_at timestamptz;
create index contact_to_fill on contact (fill_at) where fill_at is not null;
