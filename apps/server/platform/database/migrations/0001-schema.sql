-- The schema of Induct. Table by table: people and how they come, their joins and orders, money, what they hold and send us, letters,
-- HubSpot and Stripe, staff, and what servers share.

-- ── People

-- Everybody whom the society knows: invited, joining, or a member. Who is likely the same as whom is decided in
-- packages/core/people.ts; only a code, a signed link or staff say that two are one person. Pages have room for the details, so that
-- who joins is written in place and no index changes.
create table person (
  id bigint generated always as identity primary key,
  -- HubSpot's id of the contact that is this person. A code or a link names the person by it. Imported ids that HubSpot never had
  -- are here, too.
  contact_id text unique check (contact_id ~ '^[0-9]{1,20}$'),
  -- Whether a join of this person created the contact in HubSpot.
  made_contact boolean not null default false,
  -- The contact that HubSpot has under this person's email, who may be somebody else. Many persons may have found one contact.
  found_contact_id text,
  -- The student details as last proven or corrected; null until then.
  details jsonb,
  -- The contact record as HubSpot last told it, in the field names of the specification, section 3.
  profile jsonb not null default '{}',
  -- The contact's own email in HubSpot, and whether it is a member there.
  email text,
  is_member boolean not null default false,
  -- When HubSpot last told of the contact; null if it never did.
  fetched_at timestamptz,
  -- When HubSpot was found to have deleted the contact.
  deleted_at timestamptz,
  -- Email and names in the form in which likely the same people are alike (packages/core/personKeys.ts); null if one is unknown.
  likeness text,
  -- The keys of names and emails by which staff find the person (searchWords in personKeys.ts), also of those that they had before.
  -- Behind a bar those that they last typed (apps/server/session/words.ts).
  words text not null default '',
  -- The person with whom this one was joined, in HubSpot or by staff. All that was of this person is of that one.
  merged_into bigint references person,
  erased_at timestamptz,
  created_at timestamptz not null default now()
) with (fillfactor = 85);
create index person_by_likeness on person (likeness) where likeness is not null;
create index person_by_found_contact on person (found_contact_id) where found_contact_id is not null;
create index person_merged on person (merged_into) where merged_into is not null;
create index person_deleted on person (contact_id) where deleted_at is not null;

-- The parts of three letters of a text. With an index on them any part of a text is found without an extension of PostgreSQL.
-- An import of a million people calls this a million times: it is cut thrice, since a subquery takes three times as long.
create function trigrams(text) returns text[] language sql immutable parallel safe as $$
  select array_remove(string_to_array(regexp_replace(left($1, length($1) / 3 * 3), '(...)', E'\\1\n', 'g'), E'\n')
    || string_to_array(regexp_replace(substr($1, 2, (length($1) - 1) / 3 * 3), '(...)', E'\\1\n', 'g'), E'\n')
    || string_to_array(regexp_replace(substr($1, 3, (length($1) - 2) / 3 * 3), '(...)', E'\\1\n', 'g'), E'\n'), '')
$$;
create index person_by_trigrams on person using gin (trigrams(words));

-- The merges of persons by staff that can still be undone, for a day: the ids of what was moved, and both persons as they were.
create table person_merge (
  id bigint generated always as identity primary key,
  from_id bigint not null references person on delete cascade,
  into_id bigint not null references person on delete cascade,
  moved jsonb not null,
  persons jsonb not null,
  created_at timestamptz not null default now()
);
create index person_merge_by_from on person_merge (from_id);
create index person_merge_by_into on person_merge (into_id);

-- Two persons who are likely the same, and of whom staff know that they are two.
create table kept_apart (
  one_id bigint not null references person on delete cascade,
  other_id bigint not null references person on delete cascade,
  created_at timestamptz not null default now(),
  primary key (one_id, other_id),
  check (one_id < other_id)
);

-- What HubSpot is to be told of a person: of the contact that they are or, if they have none, by making one. Whoever merely shares
-- the email of a contact is told of with that contact's person. What is told is read and decided when it is sent
-- (packages/core/crmProjection.ts).
create table crm_delivery (
  person_id bigint primary key references person on delete cascade,
  -- Counts the changes: what changed while it was being sent is sent again.
  revision integer not null default 1,
  -- Since when HubSpot is behind, and when it is next to be told; null if it knows all.
  due_since timestamptz,
  due_at timestamptz,
  tries integer not null default 0,
  -- Why HubSpot does not take it; staff may try again.
  refusal text,
  -- What HubSpot had of each field when we last wrote or read it.
  sent jsonb not null default '{}',
  check ((due_at is null) = (due_since is null))
);
create index crm_delivery_due on crm_delivery (due_at) where due_at is not null and refusal is null;

-- A code leads to a person or to a school. Codes are stored in capitals (packages/core/inviteCode.ts).
create table invitation (
  code text primary key check (code ~ '^[A-Z0-9]{1,64}$'),
  person_id bigint references person,
  school text,
  -- Null: the programme that the page asks for.
  programme text,
  expires_at timestamptz,
  is_withdrawn boolean not null default false,
  -- When and by which member of staff the code was last withdrawn.
  withdrawn_at timestamptz,
  withdrawn_by text,
  created_at timestamptz not null default now(),
  check ((person_id is null) <> (school is null)),
  check (not is_withdrawn or (withdrawn_at is not null and withdrawn_by is not null))
);
create index invitation_by_person on invitation (person_id) where person_id is not null;

-- ── Joins and orders

create type join_session_state as enum ('started', 'detailed', 'ordering', 'paying', 'paid');
create type join_session_origin as enum ('invite', 'school', 'self_nomination', 'link', 'checkout');
create type join_session_upgrade as enum ('open', 'skipped', 'taken');

-- One attempt of one person to join. The states and what they allow: packages/core/joinSession.ts.
create table join_session (
  uuid uuid primary key default gen_random_uuid(),
  state join_session_state not null default 'started',
  origin join_session_origin not null,
  programme text not null,
  -- Who joins: the person of the code or link, otherwise a person of the join's own. Null once the join is erased.
  person_id bigint references person check (person_id is not null or erased_at is not null),
  invitation_code text,
  school text,
  -- The student details as they were typed in this join, cleaned and valid.
  details jsonb,
  has_agreed_to_policies boolean not null default false,
  -- The sentence of the guardian consent that the joiner agreed to, and when.
  guardian_consent text,
  guardian_consent_at timestamptz,
  -- What the upgrade screen offers instead of the membership's own upgrade.
  upsell_product_id integer,
  -- The lines of the order, each at the price of the day on which it was added (packages/core/orderLine.ts), and the number of this
  -- version of the order.
  lines jsonb not null default '[]',
  revision integer not null default 0,
  -- Since when the order is frozen because it is being paid, and the revision for which somebody last pressed Buy Now.
  paying_since timestamptz,
  begun_revision integer,
  -- The change of the order's intent at Stripe that is under way: since when, and the mark of the call that began it.
  intent_changing_since timestamptz,
  intent_change uuid,
  -- How many calls that create something at Stripe have failed: part of the next idempotency key.
  provider_failures integer not null default 0,
  paid_at timestamptz,
  upgrade join_session_upgrade not null default 'open',
  -- Keyed hash of the address that began the join, for counting alone.
  address_hash text,
  -- When somebody first proved to be the joiner, by a pass.
  proven_at timestamptz,
  -- When the join was erased: its row stays for its money and names nobody.
  erased_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  check ((state = 'paying') = (paying_since is not null))
) with (fillfactor = 70);
create index join_session_by_person on join_session (person_id, created_at) where person_id is not null;
create index join_session_by_code on join_session (invitation_code) where invitation_code is not null;
create index join_session_by_address on join_session (address_hash, created_at) where address_hash is not null;
create index join_session_by_email on join_session (lower(details ->> 'personalEmail')) where details is not null;
-- One payment of a person is under way at a time.
create unique index join_session_one_paying on join_session (person_id) where paying_since is not null;

-- What was on the screen at a revision of the order, and what a payment of that revision confirms.
create table order_snapshot (
  session_uuid uuid not null references join_session,
  kind text not null check (kind in ('join', 'upgrade')),
  -- The revision of the order; for an upgrade, the attempt.
  revision integer not null,
  amount_cents integer not null,
  -- The lines, [{ productId, type, name, priceCents }], and in the same order the goods of each.
  items jsonb not null,
  goods jsonb,
  -- What is kept of the membership if its payer was not eligible.
  processing_fee_cents integer,
  created_at timestamptz not null default now(),
  primary key (session_uuid, kind, revision)
);

-- ── Money

-- Our side of a PaymentIntent of Stripe.
create table payment (
  intent_id text primary key,
  session_uuid uuid not null references join_session,
  kind text not null check (kind in ('join', 'upgrade')),
  -- Counts the intents of a join and kind: part of the idempotency key.
  attempt integer not null,
  -- `duplicate`: it bought nothing, and all of it goes back.
  status text not null check (status in ('open', 'succeeded', 'canceled', 'duplicate')),
  client_secret text not null,
  customer_id text not null,
  amount_cents integer not null,
  revision integer not null,
  receipt_email text,
  -- Whether the intent saves its card for an upgrade.
  saves_card boolean,
  payment_method_id text,
  card_brand text,
  card_last4 text,
  refunded_cents integer not null default 0,
  -- The cardholder's bank took the money back: for now, or for good.
  dispute text check (dispute in ('open', 'lost')),
  -- Counts what was taken in from Stripe about refunds and disputes, so that an older answer overwrites no newer one.
  followed integer not null default 0,
  succeeded_at timestamptz,
  -- When the sweep last asked Stripe; when anybody did; and what Stripe said to the question of `seen_at`.
  checked_at timestamptz not null default now(),
  looked_at timestamptz,
  seen_status text,
  seen_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (session_uuid, kind, attempt)
);
create unique index payment_one_open on payment (session_uuid, kind) where status = 'open';
create index payment_open on payment (checked_at) where status = 'open';
create index payment_succeeded on payment (succeeded_at) where status in ('succeeded', 'duplicate');
create index payment_by_receipt_email on payment (lower(receipt_email)) where receipt_email is not null;

-- Money that goes back to a payer, or that a lost dispute took.
create table refund (
  uuid uuid primary key default gen_random_uuid(),
  intent_id text not null references payment,
  -- Stripe's id of the refund or the dispute; null until Stripe has it.
  stripe_id text unique,
  amount_cents integer not null check (amount_cents > 0),
  reason text not null check (reason in ('duplicate', 'unconfirmed', 'requested', 'ineligible', 'dashboard')),
  is_dispute boolean not null default false,
  -- The lines of the paid order that it gives back, [{ line, productId, name, cents }]; null if nobody said, and when staff did.
  lines jsonb,
  assigned_at timestamptz,
  -- `due`: decided here, Stripe is yet to be asked. The others are Stripe's.
  status text not null check (status in ('due', 'pending', 'succeeded', 'failed', 'canceled')),
  attempts integer not null default 0,
  next_try_at timestamptz not null default now() + interval '2 minutes',
  refusal text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index refund_by_payment on refund (intent_id);
create index refund_due on refund (updated_at) where status = 'due';
create index refund_by_next_try on refund (next_try_at) where status = 'due';

-- A declined card, by Stripe's id of the charge: what card testing is counted by.
create table card_failure (
  charge_id text primary key,
  session_uuid uuid not null references join_session,
  address_hash text,
  created_at timestamptz not null default now()
);
create index card_failure_by_session on card_failure (session_uuid, created_at);
create index card_failure_by_address on card_failure (address_hash, created_at) where address_hash is not null;

-- Events of Stripe that were handled, and those that are to be handled again.
create table stripe_event (
  id text primary key,
  handled_at timestamptz not null default now()
);
create index stripe_event_by_time on stripe_event (handled_at);
create table event_retry (
  id text primary key,
  event jsonb not null,
  attempts integer not null default 0,
  next_try_at timestamptz not null,
  created_at timestamptz not null default now()
);
create index event_retry_by_next_try on event_retry (next_try_at);

-- What the comparisons of Stripe's money with our members found.
create table reconciliation (
  id bigint generated always as identity primary key,
  started_at timestamptz not null,
  finished_at timestamptz not null default now(),
  counts jsonb not null,
  differences jsonb not null
);

-- ── What members hold, get and send us

-- What somebody holds, written with the payment that bought it. It belongs to the person of its join.
create table membership (
  id bigint generated always as identity primary key,
  session_uuid uuid not null references join_session,
  person_id bigint references person,
  product_id integer not null,
  type text not null check (type in ('membership', 'membership_upgrade')),
  payment_intent text not null references payment,
  standing text not null default 'active' check (standing in ('active', 'disputed', 'refunded', 'charged_back', 'void')),
  is_held boolean not null generated always as (standing in ('active', 'disputed')) stored,
  -- What its paper and /verify know it by.
  member_number text,
  is_unlisted boolean not null default false,
  created_at timestamptz not null default now()
);
create unique index membership_once_per_session on membership (session_uuid, type) where standing <> 'void';
create index membership_by_person on membership (person_id) where person_id is not null;
create index membership_by_payment on membership (payment_intent);
create index membership_by_session on membership (session_uuid);
create unique index membership_by_number on membership (member_number);

-- A transcript of a join, or a resume of a person, whose bytes are stored. The name is for people and never a path.
create table document (
  id uuid primary key,
  kind text not null check (kind in ('transcript', 'resume')),
  session_uuid uuid references join_session,
  person_id bigint references person,
  name text not null,
  media_type text not null,
  size_bytes bigint not null check (size_bytes > 0),
  sha256 bytea not null,
  storage_key text not null unique,
  -- What staff decided of a transcript. After a final rejection nothing more is taken.
  review text not null default 'open' check (review in ('open', 'accepted', 'rejected')),
  reason text,
  is_final boolean not null default false,
  reviewed_at timestamptz,
  -- How far it is on its way to HubSpot: the file, then the note that holds it.
  crm_file_id text,
  crm_note_id text,
  crm_attempts integer not null default 0,
  -- When to attach it to its contact in HubSpot; null once that is done.
  crm_next_try_at timestamptz default now(),
  crm_refusal text,
  -- When the file and its name were removed; the decision stays.
  removed_at timestamptz,
  created_at timestamptz not null default now(),
  check ((kind = 'transcript') = (session_uuid is not null)),
  check ((kind = 'resume') = (person_id is not null)),
  check ((review = 'rejected') = (reason is not null)),
  check (review = 'rejected' or not is_final)
);
create index document_by_session on document (session_uuid) where session_uuid is not null;
create index document_by_person on document (person_id) where person_id is not null;
create index document_to_review on document (created_at) where review = 'open' and kind = 'transcript';
create index document_to_attach on document (crm_next_try_at) where crm_next_try_at is not null and crm_refusal is null;

-- A way for a phone to upload for a join, and nothing else of it: the hash of a random token, for an hour.
create table upload_link (
  token_hash bytea primary key,
  session_uuid uuid not null references join_session,
  expires_at timestamptz not null,
  created_at timestamptz not null default now()
);
create index upload_link_over on upload_link (expires_at);

-- That the goods of a line were sent. What is still to be sent follows from what was paid and what went back
-- (packages/core/fulfilment.ts).
create table shipment (
  id bigint generated always as identity primary key,
  session_uuid uuid not null references join_session,
  intent_id text not null references payment,
  -- The place of the line in the paid order, and what its goods were called.
  line integer not null check (line >= 0),
  product_id integer not null,
  goods text not null,
  shipped_at timestamptz not null default now(),
  shipped_by text not null,
  note text,
  -- Taken back: it was not sent after all.
  unshipped_at timestamptz,
  unshipped_by text,
  check ((unshipped_at is null) = (unshipped_by is null))
);
create unique index shipment_once on shipment (intent_id, line) where unshipped_at is null;
create index shipment_by_session on shipment (session_uuid);

-- ── Letters

-- A letter by email. What it says is read when it is sent.
create table letter (
  id uuid primary key default gen_random_uuid(),
  kind text not null,
  session_uuid uuid references join_session,
  -- What of the join it is about, as the id of a payment.
  occasion text not null,
  -- Whom it goes to, or went to. Null: the person's address, as it is known when the letter is sent.
  email text,
  -- What it needs and no other table keeps.
  data jsonb not null default '{}',
  due_at timestamptz not null default now(),
  attempts integer not null default 0,
  next_try_at timestamptz not null default now(),
  sent_at timestamptz,
  -- Why it is not sent; staff may try again.
  refusal text,
  -- When what it says did not hold any more: it is never sent.
  withdrawn_at timestamptz,
  created_at timestamptz not null default now(),
  unique nulls not distinct (kind, session_uuid, occasion)
);
create index letter_due on letter (next_try_at) where sent_at is null and refusal is null and withdrawn_at is null;
create index letter_refused on letter (created_at) where refusal is not null;
create index letter_by_session on letter (session_uuid);
create index letter_reminded on letter (lower(email), sent_at) where kind in ('reminder-hour', 'reminder-days');

-- What is kept of a join's pass, the link in its letters. The link itself is nowhere: it is sealed with the server's secret.
create table pass (
  session_uuid uuid primary key references join_session,
  -- Links made until then open nothing.
  revoked_at timestamptz,
  -- Wrong codes since one was last mailed, and wrong last names and ZIP codes since a code last proved the joiner.
  tries integer not null default 0,
  name_tries integer not null default 0,
  -- The mailed code, keyed, and the secret of the browser that asked for it.
  code_hash bytea,
  code_browser bytea,
  code_expires_at timestamptz,
  check ((code_hash is null) = (code_browser is null) and (code_hash is null) = (code_expires_at is null))
);

-- Who asked for the links of their joins. Looked up in the background, so that an unknown email is answered as fast.
create table pass_request (
  id uuid primary key default gen_random_uuid(),
  email text not null,
  created_at timestamptz not null default now()
);

-- Who wants no reminders, by a keyed hash of the email.
create table reminder_stop (
  email_hash bytea primary key,
  stopped_at timestamptz not null default now()
);

-- ── Forgetting

-- Who was erased, by a keyed hash of the email; what HubSpot may still have of them; and what Stripe is to forget.
create table erasure (
  email_hash bytea primary key,
  erased_at timestamptz not null default now()
);
create table left_at_hubspot (
  email_hash bytea not null,
  kind text not null check (kind in ('contact', 'file')),
  hubspot_id text not null,
  primary key (email_hash, kind, hubspot_id)
);
create table forget_at_stripe (
  stripe_id text primary key,
  kind text not null check (kind in ('intent', 'customer'))
);

-- ── Staff

-- What staff should know and no page shows (packages/core/notice.ts): one row for each cause while it is open.
create table staff_notice (
  id bigint generated always as identity primary key,
  kind text not null,
  session_uuid uuid references join_session,
  params jsonb not null,
  remedy jsonb,
  -- How often its cause was met, first and last.
  count integer not null default 1,
  created_at timestamptz not null default now(),
  last_seen_at timestamptz not null default now(),
  -- When its cause was mended, or staff said that it is done; ended_by is who of staff.
  ended_at timestamptz,
  ended_by text
);
create unique index staff_notice_open on staff_notice (kind, session_uuid, md5(params::text)) nulls not distinct where ended_at is null;

-- The story of each join, step by step (packages/core/story.ts), but for its start, which its own row tells. Written by the triggers
-- below; nothing in it names anybody.
create table join_event (
  id bigint generated always as identity,
  session_uuid uuid not null,
  at timestamptz not null default now(),
  step text not null,
  cause text not null,
  -- The member of staff who did it.
  actor text default nullif(current_setting('induct.actor', true), ''),
  detail jsonb
);
create index join_event_by_session on join_event (session_uuid);

-- What browsers report: blocked requests and pages that broke.
create table browser_report (
  directive text not null,
  blocked text not null,
  page text not null,
  count bigint not null default 1,
  first_seen_at timestamptz not null default now(),
  last_seen_at timestamptz not null default now(),
  primary key (directive, blocked)
);

-- ── What servers share

-- Secrets that nobody set, made once.
create table secret (
  name text primary key,
  value text not null
);
insert into secret (name, value) values
  ('member numbers', gen_random_uuid()::text || gen_random_uuid()::text),
  ('erasures', gen_random_uuid()::text || gen_random_uuid()::text);

-- Counts of limits.
create table limit_count (
  name text not null,
  key text not null,
  window_start timestamptz not null,
  count integer not null,
  primary key (name, key, window_start)
);

-- Work that one server does for all, and how far it got.
create table schedule (
  name text primary key,
  due_at timestamptz not null default '-infinity',
  reached_at timestamptz,
  cursor text
);

-- The calls that HubSpot still allows: a bucket of tokens for each kind of call.
create table crm_budget (
  name text primary key check (name in ('call', 'search')),
  tokens double precision not null,
  refilled_at timestamptz not null default now(),
  blocked_until timestamptz not null default '-infinity',
  failures integer not null default 0
);
insert into crm_budget (name, tokens) values ('call', 15), ('search', 1);

-- Files of the page, so that a server can answer for a page of another version.
create table page_file (
  path text primary key,
  content bytea not null,
  started_at timestamptz not null default now()
);

-- ── Triggers

-- A row of an erased join names nobody, whatever is written to it later.
create function keep_join_erased() returns trigger language plpgsql as $$
begin
  new.details = null;
  new.person_id = null;
  new.invitation_code = null;
  new.school = null;
  new.address_hash = null;
  new.upgrade = case when new.upgrade = 'open' then 'skipped'::join_session_upgrade else new.upgrade end;
  new.guardian_consent = null;
  new.guardian_consent_at = null;
  return new;
end 
$$;
-- The name makes it the last trigger before the row is written.
create trigger zz_keep_join_erased before update on join_session for each row
  when (new.erased_at is not null) execute function keep_join_erased();

-- Nobody is written to about an erased join.
create function no_letter_of_erased_join() returns trigger language plpgsql as $$
begin
  if exists (select from join_session where uuid = new.session_uuid and erased_at is not null) then
    return null;
  end if;
  return new;
end 
$$;
create trigger no_letter_of_erased_join before insert on letter for each row
  when (new.session_uuid is not null) execute function no_letter_of_erased_join();

-- A member number is made from a secret and the payment: a payment that is made again after a restore gets the same one.
create function free_member_number(payment_intent text) returns text language plpgsql as $$
declare
  alphabet constant text := '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
  bits bigint;
  found_number text;
  attempt integer := 0;
begin
  loop
    bits := ('x' || left(encode(sha256(convert_to(
      (select value from secret where name = 'member numbers') || chr(10) || payment_intent || chr(10) || attempt, 'UTF8')), 'hex'), 10))::bit(40)::bigint;
    found_number := '';
    for place in 0..7 loop
      found_number := found_number || substr(alphabet, ((bits >> (5 * place)) & 31)::integer + 1, 1);
    end loop;
    exit when not exists (select from membership where member_number = found_number);
    attempt := attempt + 1;
  end loop;
  return found_number;
end 
$$;

-- The story. A step has the given cause, unless a member of staff says that it was they: set_config('induct.actor', …).
create function unless_staff(cause text) returns text language sql stable as $$
  select case when nullif(current_setting('induct.actor', true), '') is null then cause else 'staff' end
$$;

create function record_session_step() returns trigger language plpgsql as $$
begin
  if new.details is distinct from old.details then
    insert into join_event (session_uuid, step, cause) values (new.uuid, 'details_submitted', unless_staff('joiner'));
  end if;
  -- Without a member of staff it is a merge in HubSpot.
  if new.person_id is distinct from old.person_id then
    insert into join_event (session_uuid, step, cause, detail) values (new.uuid, 'contact_linked', unless_staff('induct'),
      jsonb_build_object('contact', (select contact_id from person where id = new.person_id)));
  end if;
  if new.revision <> old.revision then
    insert into join_event (session_uuid, step, cause, detail) values (new.uuid, 'order_changed', unless_staff('joiner'),
      jsonb_build_object('revision', new.revision, 'lines', new.lines));
  end if;
  if new.state <> old.state then
    if new.state = 'paying' then
      insert into join_event (session_uuid, step, cause, detail) values (new.uuid, 'payment_begun', unless_staff('joiner'),
        jsonb_build_object('revision', new.revision));
    elsif new.state = 'paid' then
      insert into join_event (session_uuid, step, cause) values (new.uuid, 'paid', unless_staff('stripe'));
    elsif old.state in ('paying', 'paid') then
      insert into join_event (session_uuid, step, cause, detail) values (new.uuid, 'order_reopened', unless_staff('induct'),
        jsonb_build_object('from', old.state));
    end if;
  end if;
  if new.upgrade <> old.upgrade then
    insert into join_event (session_uuid, step, cause) values (new.uuid,
      case new.upgrade when 'open' then 'upgrade_reopened' else 'upgrade_' || new.upgrade end,
      unless_staff(case new.upgrade when 'skipped' then 'joiner' when 'taken' then 'stripe' else 'induct' end));
  end if;
  return null;
end 
$$;
create trigger record_session_step after update on join_session for each row
  when (new.state <> old.state or new.revision <> old.revision or new.upgrade <> old.upgrade or new.details is distinct from old.details
    or (new.person_id is distinct from old.person_id and new.erased_at is null)) execute function record_session_step();

create function record_payment_step() returns trigger language plpgsql as $$
declare
  detail jsonb := jsonb_build_object('intent', new.intent_id, 'kind', new.kind, 'cents', new.amount_cents, 'revision', new.revision);
  -- A payment that we learn of when it is over has no time before.
  is_new boolean := tg_op = 'INSERT';
begin
  if is_new and new.status = 'open' then
    insert into join_event (session_uuid, step, cause, detail) values (new.session_uuid, 'intent_opened', unless_staff('joiner'), detail);
  elsif is_new or new.status <> old.status then
    insert into join_event (session_uuid, step, cause, detail) values (new.session_uuid, 'intent_' || new.status,
      unless_staff(case new.status when 'canceled' then 'induct' else 'stripe' end), detail);
  elsif new.amount_cents <> old.amount_cents then
    insert into join_event (session_uuid, step, cause, detail) values (new.session_uuid, 'intent_changed', unless_staff('joiner'), detail);
  end if;
  if (is_new and new.dispute is not null) or (not is_new and new.dispute is distinct from old.dispute) then
    insert into join_event (session_uuid, step, cause, detail) values (new.session_uuid, 'dispute_' || coalesce(new.dispute, 'over'),
      unless_staff('stripe'), detail);
  end if;
  return null;
end 
$$;
create trigger record_payment_start after insert on payment for each row execute function record_payment_step();
create trigger record_payment_step after update on payment for each row
  when (new.status <> old.status or new.amount_cents <> old.amount_cents or new.dispute is distinct from old.dispute) execute function record_payment_step();

create function record_membership_step() returns trigger language plpgsql as $$
begin
  insert into join_event (session_uuid, step, cause, detail) values (new.session_uuid, 'membership_' || new.standing, unless_staff('stripe'),
    jsonb_build_object('intent', new.payment_intent, 'productId', new.product_id, 'type', new.type));
  return null;
end 
$$;
create trigger record_membership_start after insert on membership for each row execute function record_membership_step();
create trigger record_membership_step after update on membership for each row
  when (new.standing <> old.standing) execute function record_membership_step();

create function record_refund_step() returns trigger language plpgsql as $$
begin
  if new.is_dispute and (tg_op = 'INSERT' or new.status <> old.status) then
    return null;
  end if;
  insert into join_event (session_uuid, step, cause, detail) values (
    (select session_uuid from payment where intent_id = new.intent_id),
    case when tg_op = 'INSERT' and new.reason <> 'dashboard' then 'refund_decided'
      when tg_op = 'UPDATE' and new.status = old.status then 'refund_assigned'
      else 'refund_' || new.status end,
    -- A refund that is cancelled before Stripe knows it is dropped here.
    unless_staff(case when new.status = 'canceled' and new.stripe_id is null then 'induct'
      when new.reason = 'dashboard' or tg_op = 'UPDATE' then 'stripe' else 'induct' end),
    jsonb_build_object('refund', new.uuid, 'intent', new.intent_id, 'cents', new.amount_cents, 'reason', new.reason, 'lines', new.lines));
  return null;
end 
$$;
create trigger record_refund_start after insert on refund for each row execute function record_refund_step();
create trigger record_refund_step after update on refund for each row
  when (new.status <> old.status or new.assigned_at is distinct from old.assigned_at) execute function record_refund_step();

create function record_document_step() returns trigger language plpgsql as $$
begin
  insert into join_event (session_uuid, step, cause, detail) values (new.session_uuid,
    case when tg_op = 'INSERT' then 'document_uploaded' else 'document_' || new.review end, unless_staff('joiner'),
    jsonb_build_object('document', new.id, 'kind', new.kind, 'bytes', new.size_bytes, 'reason', new.reason, 'isFinal', new.is_final));
  return null;
end 
$$;
create trigger record_document_start after insert on document for each row
  when (new.session_uuid is not null) execute function record_document_step();
create trigger record_document_step after update on document for each row
  when (new.session_uuid is not null and (new.review <> old.review or new.is_final <> old.is_final)) execute function record_document_step();

create function record_shipment_step() returns trigger language plpgsql as $$
begin
  insert into join_event (session_uuid, step, cause, detail) values (new.session_uuid,
    case when new.unshipped_at is null then 'shipped' else 'unshipped' end, 'staff',
    jsonb_build_object('intent', new.intent_id, 'line', new.line, 'productId', new.product_id, 'goods', new.goods));
  return null;
end 
$$;
create trigger record_shipment_step after insert or update on shipment for each row execute function record_shipment_step();
