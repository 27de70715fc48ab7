-- Staff may withdraw a code. A code that is opened again keeps when and by whom it was last withdrawn.
alter table invitation
  add is_withdrawn boolean not null default false,
  add withdrawn_at timestamptz,
  add withdrawn_by text,
  add check (not is_withdrawn or (withdrawn_at is not null and withdrawn_by is not null)) not valid;
