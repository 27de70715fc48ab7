-- The revision whose total stood on the screen when somebody last pressed Buy Now. Another tab may open the order again and change
-- it, and with it the intent that the first tab is about to confirm. A trigger, since servers of the version before begin payments
-- beside new ones.
alter table join_session add column begun_revision integer;
create function note_begun_revision() returns trigger language plpgsql as $$
begin
  new.begun_revision := new.revision;
  return new;
end $$;
create trigger note_begun_revision before update of paying_since on join_session for each row
  when (new.paying_since is not null) execute function note_begun_revision();
