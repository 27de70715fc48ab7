-- Letters by email: a row each, written in the transaction that made the letter due, and sent in the background
-- (apps/server/letters/). What a letter says is read when it is sent.
create table letter (
  -- Its Message-ID, however often it is tried.
  id uuid primary key default gen_random_uuid(),
  kind text not null,
  session_uuid uuid references join_session (uuid),
  -- What of the join it is about, as the id of a payment: of one kind, join and occasion there is one letter.
  occasion text not null,
  -- Whom it goes to, or went to. Null: the join's own address, as it is known when the letter is sent.
  email text,
  -- What the letter needs and no other table keeps.
  data jsonb not null default '{}',
  due_at timestamptz not null default now(),
  attempts integer not null default 0,
  next_try_at timestamptz not null default now(),
  -- The mail server has taken it.
  sent_at timestamptz,
  -- Why it is not sent: the mail server refuses it for good, or nobody's address is known. Staff may try again.
  refusal text,
  -- What it says did not hold any more when it was due: never sent.
  withdrawn_at timestamptz,
  created_at timestamptz not null default now(),
  unique nulls not distinct (kind, session_uuid, occasion)
);
create index letter_due on letter (next_try_at) where sent_at is null and refusal is null and withdrawn_at is null;
create index letter_refused on letter (created_at) where refusal is not null;
create index letter_by_session on letter (session_uuid);

-- Whether the letters of a membership were made due. False: a server of the version before has sold it; they are made up for.
alter table membership add has_letters boolean not null default true;
alter table membership alter has_letters set default false;
create index membership_without_letters on membership (id) where not has_letters;
