-- Contacts as HubSpot has them: a mirror of what the join needs. HubSpot owns them; nothing here is edited by a join.
create table contact (
  id text primary key check (id ~ '^[0-9]{1,20}$'),
  -- The contact record of the specification, section 3, in its field names.
  profile jsonb not null default '{}',
  email text,
  -- Already a member, says HubSpot.
  is_member boolean not null default false,
  -- When HubSpot last told us; null for a row that an import made.
  fetched_at timestamptz,
  created_at timestamptz not null default now()
);

-- A code leads to a contact or to a school. Codes are stored in capitals (packages/core/inviteCode.ts).
create table invitation (
  code text primary key check (code ~ '^[A-Z0-9]{1,64}$'),
  contact_id text references contact (id),
  school text,
  -- Null: the one that the page asks for.
  programme text,
  expires_at timestamptz,
  created_at timestamptz not null default now(),
  check ((contact_id is null) <> (school is null))
);

-- One attempt of one person to join. States and what they allow: packages/core/joinSession.ts.
create table join_session (
  uuid uuid primary key default gen_random_uuid(),
  state text not null default 'started' check (state in ('started', 'detailed', 'ordering', 'paying', 'paid')),
  origin text not null check (origin in ('invite', 'school', 'self_nomination', 'link', 'checkout')),
  programme text not null,
  contact_id text references contact (id),
  invitation_code text,
  school text,
  -- The student details payload as submitted, trimmed and valid.
  details jsonb,
  is_checkout_only boolean not null default false,
  has_agreed_to_policies boolean not null default false,
  -- What the upgrade screen offers instead of the membership's own upgrade.
  upsell_product_id integer,
  -- Counts the versions of the order; an intent and its snapshot carry the one they are for.
  revision integer not null default 0,
  paying_since timestamptz,
  paid_at timestamptz,
  upgrade text not null default 'open' check (upgrade in ('open', 'skipped', 'taken')),
  -- HMAC of the address that started it: for counting, not for knowing.
  address_hash text,
  -- Level-triggered writes to HubSpot: a row whose numbers differ is to be sent.
  profile_revision integer not null default 0,
  crm_revision integer not null default 0,
  crm_contact_id text,
  crm_next_try_at timestamptz not null default now(),
  crm_attempts integer not null default 0,
  crm_refusal text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index join_session_by_contact on join_session (contact_id) where contact_id is not null;
create index join_session_by_code on join_session (invitation_code, created_at) where invitation_code is not null;
create index join_session_by_address on join_session (address_hash, created_at) where address_hash is not null;
create index join_session_crm_due on join_session (crm_next_try_at) where profile_revision <> crm_revision and crm_refusal is null;

-- The lines of a session's order. The price is the catalogue's when the item entered: the price shown is the price charged.
create table session_product (
  uuid uuid primary key default gen_random_uuid(),
  session_uuid uuid not null references join_session (uuid),
  product_id integer not null,
  type text not null check (type in ('membership', 'membership_upgrade', 'donation', 'donation_other', 'store')),
  name text not null,
  price_cents integer not null check (price_cents >= 50),
  created_at timestamptz not null default clock_timestamp(),
  -- Removed lines stay, so that pressing Remove twice is safe.
  removed_at timestamptz
);
create index session_product_by_session on session_product (session_uuid);
-- The same item twice is the one already there; a typed donation is the same when its amount is.
create unique index session_product_once on session_product (session_uuid, product_id) where type <> 'donation_other' and removed_at is null;
create unique index session_product_donation_once on session_product (session_uuid, price_cents) where type = 'donation_other' and removed_at is null;
create unique index session_product_one_membership on session_product (session_uuid) where type in ('membership', 'membership_upgrade') and removed_at is null;

-- What exactly was on the screen at a revision: what a payment of that revision confirms.
create table order_snapshot (
  session_uuid uuid not null references join_session (uuid),
  kind text not null check (kind in ('join', 'upgrade')),
  -- The order's revision; for an upgrade, the attempt.
  revision integer not null,
  amount_cents integer not null,
  -- [{ productId, type, name, priceCents }]
  items jsonb not null,
  created_at timestamptz not null default now(),
  primary key (session_uuid, kind, revision)
);

-- Our side of a Stripe PaymentIntent.
create table payment (
  intent_id text primary key,
  session_uuid uuid not null references join_session (uuid),
  kind text not null check (kind in ('join', 'upgrade')),
  -- Counts the intents of a session and kind: part of the idempotency key.
  attempt integer not null,
  status text not null check (status in ('open', 'succeeded', 'canceled', 'refund_due', 'refunded')),
  client_secret text not null,
  customer_id text not null,
  amount_cents integer not null,
  revision integer not null,
  payment_method_id text,
  card_brand text,
  card_last4 text,
  refunded_cents integer not null default 0,
  succeeded_at timestamptz,
  -- When Stripe was last asked about it by the sweep.
  checked_at timestamptz not null default now(),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (session_uuid, kind, attempt)
);
create unique index payment_one_open on payment (session_uuid, kind) where status = 'open';
create index payment_unsettled on payment (checked_at) where status in ('open', 'refund_due');

-- What somebody holds. Written with the payment that bought it, in one transaction.
create table membership (
  id bigint generated always as identity primary key,
  session_uuid uuid not null references join_session (uuid),
  contact_id text references contact (id),
  product_id integer not null,
  type text not null check (type in ('membership', 'membership_upgrade')),
  payment_intent text not null references payment (intent_id),
  standing text not null default 'active' check (standing in ('active', 'refunded', 'disputed')),
  created_at timestamptz not null default now()
);
create unique index membership_once_per_contact on membership (contact_id, product_id) where standing = 'active' and contact_id is not null;
create unique index membership_once_per_session on membership (session_uuid, type);

-- A file that is safe on disk. The name is kept for people and is never a path.
create table document (
  id uuid primary key,
  kind text not null check (kind in ('transcript', 'resume')),
  session_uuid uuid references join_session (uuid),
  contact_id text references contact (id),
  name text not null,
  media_type text not null,
  size_bytes bigint not null check (size_bytes > 0),
  sha256 bytea not null,
  storage_key text not null,
  created_at timestamptz not null default now(),
  check ((kind = 'transcript') = (session_uuid is not null)),
  check ((kind = 'resume') = (contact_id is not null))
);
create index document_by_session on document (session_uuid) where session_uuid is not null;

-- Counts for limits that must survive a restart and hold across servers (wrong invite codes and the like).
create table limit_count (
  name text not null,
  key text not null,
  window_start timestamptz not null,
  count integer not null,
  primary key (name, key, window_start)
);

-- What staff must know and no page shows: a second payment refunded, an unknown contact, an address of another.
create table staff_notice (
  id bigint generated always as identity primary key,
  kind text not null,
  session_uuid uuid references join_session (uuid),
  message text not null,
  created_at timestamptz not null default now()
);

-- Secrets that nobody set: made once, shared by every process on this database.
create table secret (
  name text primary key,
  value text not null
);
