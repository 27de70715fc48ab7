-- What staff note of somebody at the desk. Goes with the person.
create table person_note (
  id bigint generated always as identity primary key,
  person_id bigint not null references person on delete cascade,
  -- Null once it is removed: who wrote it, and when, stays.
  text text,
  written_by text not null,
  created_at timestamptz not null default now(),
  removed_by text,
  removed_at timestamptz,
  check ((text is null) = (removed_at is not null))
);
create index person_note_by_person on person_note (person_id, created_at);
