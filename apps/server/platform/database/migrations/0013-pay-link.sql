-- The link by which somebody else may pay for a join: the newest of each join, until it expires.
create table pay_link (
  session_uuid uuid primary key references join_session on delete cascade,
  token_hash bytea not null unique,
  expires_at timestamptz not null,
  created_at timestamptz not null default now()
);

-- Whether a payment is by a pay link, so that its card and its email are not the joiner's; who pays it; and the guardian consent that they
-- gave.
alter table payment
  add column by_pay_link boolean not null default false,
  add column payer_name text,
  add column payer_consent text,
  add column payer_consent_at timestamptz;
