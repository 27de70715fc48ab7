-- The contact in HubSpot that a join is written into when nobody named one, and whether the join created it; false: somebody's
-- with the same email. Until now one text, "own:ID" or "shared:ID". Servers of the version before go on reading and writing that
-- text, so a trigger keeps both alike; the next version drops it with its column.
alter table join_session
  add hubspot_contact_id text,
  add owns_hubspot_contact boolean,
  add constraint join_session_hubspot_contact check ((hubspot_contact_id is null) = (owns_hubspot_contact is null));

update join_session set
  hubspot_contact_id = split_part(crm_contact_id, ':', 2),
  owns_hubspot_contact = crm_contact_id like 'own:%'
where crm_contact_id is not null;

create function keep_contact_of_join_alike() returns trigger language plpgsql as $$
begin
  if new.crm_contact_id is distinct from old.crm_contact_id then
    new.hubspot_contact_id = split_part(new.crm_contact_id, ':', 2);
    new.owns_hubspot_contact = new.crm_contact_id like 'own:%';
  else
    new.crm_contact_id = case when new.owns_hubspot_contact then 'own:' else 'shared:' end || new.hubspot_contact_id;
  end if;
  return new;
end $$;
create trigger keep_contact_of_join_alike
  before update of crm_contact_id, hubspot_contact_id, owns_hubspot_contact on join_session
  for each row execute function keep_contact_of_join_alike();

create index join_session_by_hubspot_contact on join_session (hubspot_contact_id) where hubspot_contact_id is not null;
