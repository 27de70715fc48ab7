-- Who was erased, by a keyed hash of the email: a second erase knows of the first one, and no email is kept.
insert into secret (name, value) values ('erasures', gen_random_uuid()::text || gen_random_uuid()::text)
  on conflict do nothing;
create table erasure (
  email_hash bytea primary key,
  erased_at timestamptz not null default now()
);

-- A join that was erased and stays for its money: nothing of it says whose it was (docs/decisions/0043-forgetting.md).
alter table join_session add column erased_at timestamptz;
-- Its file was removed after the decision, and so was its name; the decision stays.
alter table document add column removed_at timestamptz;

-- Whatever is written to an erased join later, as a refund writes it, nothing of a person comes back with it, and HubSpot is told
-- nothing. By the database, since servers of the version before write too.
create function keep_join_erased() returns trigger language plpgsql as $$
begin
  new.details = null;
  new.contact_id = null;
  new.invitation_code = null;
  new.school = null;
  new.payer = null;
  new.address_hash = null;
  new.crm_contact_id = null;
  new.hubspot_contact_id = null;
  new.owns_hubspot_contact = null;
  new.crm_known = '{}';
  new.crm_refusal = null;
  new.crm_revision = new.profile_revision;
  new.upgrade = case when new.upgrade = 'open' then 'skipped'::join_session_upgrade else new.upgrade end;
  return new;
end $$;
-- Named so that it is the last one before the row is written.
create trigger zz_keep_join_erased before update on join_session for each row
  when (new.erased_at is not null) execute function keep_join_erased();

-- Nobody is written to about an erased join.
create function no_letter_of_erased_join() returns trigger language plpgsql as $$
begin
  if exists (select from join_session where uuid = new.session_uuid and erased_at is not null) then
    return null;
  end if;
  return new;
end $$;
create trigger no_letter_of_erased_join before insert on letter for each row
  when (new.session_uuid is not null) execute function no_letter_of_erased_join();
