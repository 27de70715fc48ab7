-- Who paid: email and name as one text, in small letters, written with the payment. A second paid join of the same one
-- is perhaps one person twice.
alter table join_session add payer text;
update join_session set payer = told.payer
from (
  select uuid, lower(nullif(btrim(coalesce(person ->> 'personalEmail', contact.email)), '') || ' ' ||
    nullif(btrim(person ->> 'firstName'), '') || ' ' || nullif(btrim(person ->> 'lastName'), '')) as payer
  from join_session session left join contact on contact.id = session.contact_id,
    lateral (select coalesce(session.details, contact.profile) as person) as joined
  where session.paid_at is not null
) as told
where told.uuid = join_session.uuid and told.payer is not null;
create index join_session_by_payer on join_session (payer) where payer is not null;

-- Which join a contact in HubSpot was created by.
create index join_session_by_crm_contact on join_session (crm_contact_id) where crm_contact_id is not null;

-- What is known of a contact that is not proven is now what the join itself wrote there. Paid joins counted as delivered
-- without their status: they are looked at again.
update join_session set crm_known = '{}',
  profile_revision = case state when 'paid' then profile_revision + 1 else profile_revision end, crm_next_try_at = now()
where contact_id is null and crm_contact_id like 'shared:%';
