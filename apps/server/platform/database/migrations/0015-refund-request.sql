-- A member asks for their money back, once for each join. It is open while what they hold is held and staff have not declined it: whatever
-- ends the membership answers it.
create table refund_request (
  session_uuid uuid primary key references join_session on delete cascade,
  amount_cents integer not null,
  -- What the member was shown to come back: { types, items }, types of products and product ids of donations and store items.
  asked jsonb not null,
  declined_at timestamptz,
  declined_by text,
  -- What staff wrote to the member.
  sentence text,
  created_at timestamptz not null default now(),
  check ((declined_at is null) = (declined_by is null) and (declined_at is null) = (sentence is null))
);
create index refund_request_open on refund_request (created_at) where declined_at is null;
