-- Files of invitations that staff upload at the desk or have made there, and what becomes of them. A server works on a file as long as
-- its claim holds; if it dies, another begins again, which is safe.
create table invitation_import (
  id bigint generated always as identity primary key,
  -- `mint`: codes are made first, for the contacts of the file or as `mint` says.
  kind text not null check (kind in ('upload', 'mint')),
  state text not null default 'arriving'
    check (state in ('arriving', 'making', 'made', 'checking', 'checked', 'importing', 'done', 'failed')),
  staff text not null,
  file_name text not null,
  campaign text,
  -- { count, school, programme, expiresAt, imports }
  mint jsonb,
  size_bytes bigint not null default 0,
  read_bytes bigint not null default 0,
  -- { added, changed, unchanged, refused }, and how many codes were made.
  counts jsonb,
  -- The first refused lines, [{ line, text }], and what staff may not have intended, as sentences.
  refusals jsonb,
  doubts jsonb,
  -- Why it failed, as a sentence.
  failure text,
  claimed_until timestamptz,
  -- Whether what was kept of its lines is deleted.
  is_emptied boolean not null default false,
  created_at timestamptz not null default now()
);
create index invitation_import_due on invitation_import (id) where state in ('making', 'checking', 'importing');

-- The bytes of such a file: as it came, the lines of it that were refused, and the one with new codes. Kept for a day at most.
create table invitation_import_part (
  import_id bigint not null references invitation_import,
  kind text not null check (kind in ('file', 'refused', 'made')),
  number integer not null,
  content bytea not null,
  primary key (import_id, kind, number)
);
