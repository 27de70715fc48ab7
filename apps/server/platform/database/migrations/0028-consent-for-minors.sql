-- The sentence by which a joiner said that they are of age, or that a parent or guardian agrees, and when they first did so. Both
-- are null where the programme did not ask. The sentence is kept as it was shown, whatever the society's file says later.
alter table join_session add column guardian_consent text, add column guardian_consent_at timestamptz;

-- As in 0022, and the consent goes with the person.
create or replace function keep_join_erased() returns trigger language plpgsql as $$
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
  new.guardian_consent = null;
  new.guardian_consent_at = null;
  return new;
end $$;
