-- A way for a phone to upload for a join, and nothing else of it: the hash of a random token, for an hour.
create table upload_link (
  token_hash bytea primary key,
  session_uuid uuid not null references join_session (uuid),
  expires_at timestamptz not null,
  created_at timestamptz not null default now()
);
create index upload_link_over on upload_link (expires_at);

-- How far a document is on its way to its contact in HubSpot: the file, then the note that holds it.
alter table document
  add column crm_file_id text,
  add column crm_note_id text,
  add column crm_attempts integer not null default 0,
  add column crm_next_try_at timestamptz not null default now(),
  -- Why HubSpot will not take it; it is not sent again before staff say so.
  add column crm_refusal text;
create index document_to_attach on document (crm_next_try_at) where crm_note_id is null and crm_refusal is null;
