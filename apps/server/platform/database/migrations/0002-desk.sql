-- Who of staff signs in at the desk, and what they did there.

-- A member of staff. Their name is the actor of what they do.
create table staff (
  id bigint generated always as identity primary key,
  name text not null unique,
  email text not null,
  role text not null check (role in ('staff', 'finance', 'owner')),
  last_seen_at timestamptz,
  -- When an owner ended their access.
  ended_at timestamptz,
  created_at timestamptz not null default now()
);

-- A link that signs one browser in once, by the hash of its token.
create table staff_link (
  token_hash bytea primary key,
  staff_id bigint not null references staff,
  expires_at timestamptz not null,
  used_at timestamptz,
  -- Who made it; null: the shell.
  made_by text,
  created_at timestamptz not null default now()
);
create index staff_link_by_staff on staff_link (staff_id);

-- A passkey, by its credential id.
create table staff_passkey (
  id text primary key,
  staff_id bigint not null references staff,
  public_key bytea not null,
  -- How often it signed in, as the authenticator counts; many do not count.
  counter bigint not null,
  transports text[] not null,
  used_at timestamptz,
  created_at timestamptz not null default now()
);
create index staff_passkey_by_staff on staff_passkey (staff_id);

-- A challenge that a passkey is to sign: of a sign-in, or of the member of staff who adds one.
create table staff_challenge (
  challenge text primary key,
  staff_id bigint references staff,
  expires_at timestamptz not null
);
create index staff_challenge_over on staff_challenge (expires_at);

-- A signed-in browser, by the hash of its cookie.
create table staff_session (
  token_hash bytea primary key,
  staff_id bigint not null references staff,
  created_at timestamptz not null default now(),
  seen_at timestamptz not null default now()
);
create index staff_session_by_staff on staff_session (staff_id);

-- What staff did at the desk, refused attempts too. Never changed, and without personal data of joiners.
create table staff_event (
  id bigint generated always as identity primary key,
  at timestamptz not null default now(),
  staff_id bigint references staff,
  name text,
  action text not null,
  subject text,
  detail jsonb,
  outcome text not null check (outcome in ('done', 'refused', 'failed'))
);
create index staff_event_by_staff on staff_event (staff_id, at);
create index staff_event_by_time on staff_event (at);

create function staff_event_stays() returns trigger language plpgsql as $$
begin
  raise exception 'What staff did is never changed.';
end
$$;
create trigger staff_event_stays before update or delete on staff_event for each statement
  execute function staff_event_stays();
