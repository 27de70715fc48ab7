-- A payment for something that its payer already held is a duplicate: all of it goes back, as rows of `refund`.
alter table payment drop constraint payment_status_check;
drop index payment_unsettled;

-- Money that goes back, or went back, to a payer: one row for each refund in Stripe, made here or in its dashboard.
create table refund (
  uuid uuid primary key default gen_random_uuid(),
  intent_id text not null references payment (intent_id),
  -- Null until Stripe has it.
  stripe_id text unique,
  amount_cents integer not null check (amount_cents > 0),
  reason text not null check (reason in ('duplicate', 'unconfirmed', 'requested', 'ineligible', 'dashboard')),
  -- Which lines of the paid order it gives back: [{ line, productId, name, cents }]. Null when nobody said: dashboard.
  lines jsonb,
  -- due: decided here, Stripe is yet to be asked. The others are Stripe's.
  status text not null check (status in ('due', 'pending', 'succeeded', 'failed', 'canceled')),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index refund_by_payment on refund (intent_id);
create index refund_due on refund (updated_at) where status = 'due';

insert into refund (intent_id, amount_cents, reason, status)
select intent_id, amount_cents, 'duplicate', case status when 'refunded' then 'succeeded' else 'due' end
from payment where status in ('refund_due', 'refunded');
update payment set status = 'duplicate' where status in ('refund_due', 'refunded');

alter table payment
  add check (status in ('open', 'succeeded', 'canceled', 'duplicate')),
  -- The cardholder's bank took the money back (open: for now; lost: for good).
  add dispute text check (dispute in ('open', 'lost')),
  -- Counts what was taken in from Stripe about refunds and disputes, so that an older answer never overwrites a newer one.
  add followed integer not null default 0;
create index payment_open on payment (checked_at) where status = 'open';
create index payment_succeeded on payment (succeeded_at) where status in ('succeeded', 'duplicate');

-- Where Stripe sends its receipt.
alter table payment add receipt_email text;
-- The open intent is being changed in Stripe. Written before Stripe is asked, gone when it has answered: until then nobody
-- may begin to pay, since a change that is late would put another amount under the card that is being confirmed.
alter table join_session add intent_changing_since timestamptz;

-- refunded: the money went back; charged_back: a dispute was lost; void: Stripe knows no such payment.
alter table membership drop constraint membership_standing_check;
alter table membership
  add check (standing in ('active', 'disputed', 'refunded', 'charged_back', 'void')),
  -- Whether it still keeps its holder from buying it again.
  add is_held boolean not null generated always as (standing in ('active', 'disputed')) stored;
drop index membership_once_per_contact;
create unique index membership_once_per_contact on membership (contact_id, type) where is_held and contact_id is not null;
drop index membership_once_per_session;
create unique index membership_once_per_session on membership (session_uuid, type) where standing <> 'void';
create index membership_by_payment on membership (payment_intent);

-- One payment of a contact is under way at a time, whatever the number of windows and devices.
update join_session set state = 'ordering', paying_since = null
where state = 'paying' and exists (
  select from join_session other where other.contact_id = join_session.contact_id and other.state = 'paying'
    and (other.paying_since, other.uuid) > (join_session.paying_since, join_session.uuid));
create unique index join_session_one_paying on join_session (contact_id) where state = 'paying' and contact_id is not null;

create index join_session_paying on join_session (paying_since) where state = 'paying';

-- A card that was declined, by Stripe's id of the failed charge: what card testing is counted by.
create table card_failure (
  charge_id text primary key,
  session_uuid uuid not null references join_session (uuid),
  address_hash text,
  created_at timestamptz not null default now()
);
create index card_failure_by_session on card_failure (session_uuid, created_at);
create index card_failure_by_address on card_failure (address_hash, created_at) where address_hash is not null;

-- Stripe's events that were acted on, whether they came by webhook or were fetched.
create table stripe_event (
  id text primary key,
  handled_at timestamptz not null default now()
);
create index stripe_event_by_time on stripe_event (handled_at);

-- What one process does for all, now and then.
create table schedule (
  name text primary key,
  due_at timestamptz not null default '-infinity',
  -- How far it got, for what goes on from there.
  reached_at timestamptz
);

-- What the comparison of Stripe's money with our members found.
create table reconciliation (
  id bigint generated always as identity primary key,
  started_at timestamptz not null,
  finished_at timestamptz not null default now(),
  counts jsonb not null,
  differences jsonb not null
);
