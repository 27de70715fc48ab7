-- What staff decided of a transcript. Reasons and their sentences: packages/core/document.ts.
alter table document
  add column review text not null default 'open' check (review in ('open', 'accepted', 'rejected')),
  add column reason text,
  -- A final rejection ends the join: its membership goes back, and nothing more is taken.
  add column is_final boolean not null default false,
  add column reviewed_at timestamptz,
  add check ((review = 'rejected') = (reason is not null)),
  add check (review = 'rejected' or not is_final);
create unique index document_once_per_file on document (storage_key);
create index document_to_review on document (created_at) where review = 'open' and kind = 'transcript';
